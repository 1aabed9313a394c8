"""What Keras 3.15 on TensorFlow makes of the cases of `image_cases.py`, in their order.

For each part: the dtype, the shape, the mean, and the sum weighted by cosines. Pixels of cases 33
and 37 are those of Keras on JAX, which interpolates between the ends of a wrapped image.
"""

NUMBERS = [
    {  # RandomBrightness
        "images": ("float32", [2, 6, 7, 3], 113.258, -95.9022),
    },
    {  # RandomContrast
        "images": ("float32", [2, 6, 7, 3], 124.723, 314.517),
    },
    {  # RandomContrast
        "images": ("float32", [2, 3, 6, 7], 124.723, -273.009),
    },
    {  # RandomColorDegeneration
        "images": ("float32", [2, 6, 7, 3], 125.908, -492.91),
    },
    {  # RandomColorDegeneration
        "images": ("float32", [2, 3, 6, 7], 125.908, -269.516),
    },
    {  # RandomGrayscale
        "images": ("float32", [2, 6, 7, 3], 125.047, -464.741),
    },
    {  # RandomHue
        "images": ("float32", [2, 6, 7, 3], 115.296, -247.604),
    },
    {  # RandomHue
        "images": ("float32", [2, 3, 6, 7], 0.451475, -0.193713),
    },
    {  # RandomInvert
        "images": ("float32", [2, 6, 7, 3], 128.782, -1613.29),
    },
    {  # RandomSaturation
        "images": ("float32", [2, 6, 7, 3], 0.521239, -2.55434),
    },
    {  # RandomSaturation
        "images": ("float32", [2, 3, 6, 7], 150.987, -113.347),
    },
    {  # RandomPosterization
        "images": ("float32", [2, 6, 7, 3], 105.397, -162.286),
    },
    {  # RandomPosterization
        "images": ("float32", [2, 6, 7, 3], 0.413321, -0.636416),
    },
    {  # Solarization
        "images": ("float32", [2, 6, 7, 3], 76.496, -890.833),
    },
    {  # Solarization
        "images": ("float32", [2, 6, 7, 3], 0.299984, -3.49346),
    },
    {  # AutoContrast
        "images": ("float32", [2, 6, 7, 3], 127.677, -193.718),
    },
    {  # AutoContrast
        "images": ("float32", [2, 6, 7, 3], 0.500693, -0.759677),
    },
    {  # Equalization
        "images": ("float32", [2, 6, 7, 3], 127.5, -183.068),
    },
    {  # Equalization
        "images": ("float32", [2, 6, 7, 3], 0.498646, -0.763573),
    },
    {  # Equalization
        "images": ("float32", [2, 3, 6, 7], 127.5, -321.312),
    },
    {  # ContrastLimitedAdaptiveHistogramEqualization
        "images": ("float32", [2, 6, 7, 3], 126.288, -171.411),
    },
    {  # ContrastLimitedAdaptiveHistogramEqualization
        "images": ("float32", [2, 3, 6, 7], 0.548508, -0.987839),
    },
    {  # RandomGaussianBlur
        "images": ("float32", [2, 6, 7, 3], 116.12, -853.501),
    },
    {  # RandomGaussianBlur
        "images": ("float32", [2, 6, 7, 3], 108.777, -65.2846),
    },
    {  # RandomSharpness
        "images": ("float32", [2, 6, 7, 3], 123.159, -1084.5),
    },
    {  # RandomSharpness
        "images": ("float32", [2, 3, 6, 7], 123.159, -294.871),
    },
    {  # RandomErasing
        "images": ("float32", [2, 6, 7, 3], 105.631, -452.54),
    },
    {  # MixUp
        "images": ("float32", [2, 6, 7, 3], 125.145, -955.378),
        "labels": ("float32", [2, 2], 0.5, -0.197012),
    },
    {  # CutMix
        "images": ("float32", [2, 6, 7, 3], 124.504, -233.764),
        "labels": ("float32", [2, 2], 0.5, -0.197012),
    },
    {  # RandomFlip
        "images": ("float32", [2, 6, 7, 3], 124.504, -425.282),
        "masks": ("float32", [2, 6, 7, 1], 1.28571, 1.93674),
        "xyxy": ("float32", [2, 3, 4], 2.875, -9.40706),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.439484, -1.52113),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 2.16667, -10.102),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomFlip
        "images": ("float32", [2, 6, 7, 3], 124.504, -1245.91),
        "masks": ("float32", [2, 6, 7, 1], 1.28571, -5.04624),
        "xyxy": ("float32", [2, 3, 4], 2.625, -12.7325),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.405754, -1.97148),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 2.04167, -9.49477),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomFlip
        "images": ("float32", [2, 6, 7, 3], 124.504, -872.196),
        "masks": ("float32", [2, 6, 7, 1], 1.28571, 1.93674),
        "xyxy": ("float32", [2, 3, 4], 2.95833, -8.3695),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.453373, -1.3482),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 2.20833, -9.81835),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomRotation
        "images": ("float32", [2, 6, 7, 3], 123.365, -631.468),
        "masks": ("uint8", [2, 6, 7, 1], 1.34524, 7.28932),
        "xyxy": ("float32", [2, 3, 4], 2.88658, -14.6722),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomRotation
        "images": ("float32", [2, 6, 7, 3], 123.312, -732.897),
        "masks": ("uint8", [2, 6, 7, 1], 1.34524, 3.56159),
        "xyxy": ("float32", [2, 3, 4], 2.88658, -14.6722),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomRotation
        "images": ("float32", [2, 6, 7, 3], 105.73, -999.361),
        "masks": ("uint8", [2, 6, 7, 1], 1.57143, 6.87671),
        "xyxy": ("float32", [2, 3, 4], 2.88658, -14.6722),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomRotation
        "images": ("float32", [2, 6, 7, 3], 123.365, -636.677),
        "masks": ("uint8", [2, 6, 7, 1], 1.34524, 7.28932),
        "xyxy": ("float32", [2, 3, 4], 2.88658, -14.6722),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomRotation
        "images": ("float32", [2, 6, 7, 3], 130.48, -834.768),
        "masks": ("uint8", [2, 6, 7, 1], 1.30952, 2.01768),
        "xyxy": ("float32", [2, 3, 4], 2.7473, -12.6555),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomShear
        "images": ("float32", [2, 6, 7, 3], 124.849, 151.697),
        "masks": ("uint8", [2, 6, 7, 1], 1.32143, -9.36975),
        "xyxy": ("float32", [2, 3, 4], 2.34661, -15.3665),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.36129, -2.36943),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 2.02397, -14.6794),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomTranslation
        "images": ("float32", [2, 6, 7, 3], 127.636, 118.879),
        "masks": ("uint8", [2, 6, 7, 1], 1.21429, 6.03992),
        "xyxy": ("float32", [2, 3, 4], 2.125, -13.7018),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.324901, -2.1513),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 1.65625, -9.26361),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomZoom
        "images": ("float32", [2, 6, 7, 3], 128.817, -327.588),
        "masks": ("uint8", [2, 6, 7, 1], 1.21429, -5.86493),
        "xyxy": ("float32", [2, 3, 4], 2.55021, -15.7386),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.39329, -2.46951),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 2.01736, -12.8459),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomPerspective
        "images": ("float32", [2, 6, 7, 3], 119.765, -125.621),
        "masks": ("uint8", [2, 6, 7, 1], 1.2381, -3.8202),
        "xyxy": ("float32", [2, 3, 4], 2.56144, -14.6383),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # RandomPerspective
        "images": ("float32", [2, 6, 7, 3], 126.171, -204.782),
        "masks": ("uint8", [2, 6, 7, 1], 1.2619, -3.07157),
        "xyxy": ("float32", [2, 3, 4], 2.56035, -14.5043),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # CenterCrop
        "images": ("float32", [2, 3, 4, 3], 127.722, 785.442),
        "masks": ("float32", [2, 3, 4, 1], 1.75, -1.08162),
        "xyxy": ("float32", [2, 3, 4], 1.5, -10.1856),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.430556, -3.01228),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 1.29167, -9.84107),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # CenterCrop
        "images": ("float32", [2, 9, 5, 3], 125.5, 15.8639),
        "masks": ("float32", [2, 9, 5, 1], 1.96, 2.19645),
        "xyxy": ("float32", [2, 3, 4], 2.71528, -18.0594),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.381944, -2.61922),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 2.27083, -16.326),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # Resizing
        "images": ("float32", [2, 3, 4, 3], 124.411, 49.5249),
        "masks": ("uint8", [2, 3, 4, 1], 1.75, -2.07471),
        "xyxy": ("float32", [2, 3, 4], 1.36607, -7.33679),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.391865, -2.14441),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 1.0744, -5.14929),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # Resizing
        "images": ("float32", [2, 3, 6, 3], 125.508, 24.9893),
        "masks": ("uint8", [2, 3, 6, 1], 1.33333, -1.88198),
        "xyxy": ("float32", [2, 3, 4], 1.74405, -10.8255),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.390873, -2.70493),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 1.43452, -8.68281),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # Resizing
        "images": ("float32", [2, 8, 3, 3], 125.5, -498.635),
        "masks": ("uint8", [2, 8, 3, 1], 0.666667, 0.849033),
        "xyxy": ("float32", [2, 3, 4], 2.18254, -12.6374),
        "xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "rel_xyxy": ("float32", [2, 3, 4], 0.391865, -2.14441),
        "rel_xyxy labels": ("int32", [2, 3], 2.5, -0.772189),
        "xywh": ("float32", [2, 3, 4], 1.72421, -9.7437),
        "xywh labels": ("int32", [2, 3], 2.5, -0.772189),
    },
    {  # MaxNumBoundingBoxes
        "images": ("float32", [2, 6, 7, 3], 124.504, -177.758),
        "masks": ("uint8", [2, 6, 7, 1], 1.28571, -5.04624),
        "xyxy": ("float32", [2, 2, 4], 2.0, -4.88999),
        "xyxy labels": ("int32", [2, 2], 3.0, -4.53395),
        "rel_xyxy": ("float32", [2, 2, 4], 0.309524, -0.757476),
        "rel_xyxy labels": ("int32", [2, 2], 3.0, -4.53395),
        "xywh": ("float32", [2, 2, 4], 1.5, -2.47887),
        "xywh labels": ("int32", [2, 2], 3.0, -4.53395),
    },
    {  # MaxNumBoundingBoxes
        "images": ("float32", [2, 6, 7, 3], 124.504, -177.758),
        "masks": ("uint8", [2, 6, 7, 1], 1.28571, -5.04624),
        "xyxy": ("float32", [2, 5, 4], 0.725, -13.8616),
        "xyxy labels": ("int32", [2, 5], 1.3, 16.6916),
        "rel_xyxy": ("float32", [2, 5, 4], -0.564881, -6.24614),
        "rel_xyxy labels": ("int32", [2, 5], 1.3, 16.6916),
        "xywh": ("float32", [2, 5, 4], 0.4, -10.7361),
        "xywh labels": ("int32", [2, 5], 1.3, 16.6916),
    },
    {  # RandomCrop
        "images": ("float32", [2, 3, 4, 3], 127.319, 1365.33),
    },
    {  # RandomCrop
        "images": ("float32", [2, 6, 4, 3], 125.778, -189.659),
    },
    {  # RandomCrop
        "images": ("float32", [2, 8, 5, 3], 125.5, 145.606),
    },
    {  # Resizing
        "images": ("float32", [2, 8, 3, 3], 36.6617, 39.4601),
    },
    {  # Resizing
        "images": ("float32", [2, 2, 2, 3], 125.034, -107.645),
    },
]
