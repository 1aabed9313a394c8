from framework.keras.ops.image_colors import (
    hsv_to_rgb as hsv_to_rgb, rgb_to_grayscale as rgb_to_grayscale, rgb_to_hsv as rgb_to_hsv,
)  # fmt: skip
from framework.keras.ops.image_filters import (
    extract_patches as extract_patches, extract_patches_3d as extract_patches_3d,
    gaussian_blur as gaussian_blur, sobel_edges as sobel_edges, ssim as ssim,
)  # fmt: skip
from framework.keras.ops.image_resizing import (
    crop_images as crop_images, pad_images as pad_images, resize as resize,
    scale_and_translate as scale_and_translate,
)  # fmt: skip
from framework.keras.ops.image_warping import (
    affine_transform as affine_transform, elastic_transform as elastic_transform,
    map_coordinates as map_coordinates, perspective_transform as perspective_transform,
)  # fmt: skip
