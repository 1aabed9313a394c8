"""Networks for images: ResNet, MobileNet, EfficientNet and others, as in keras.applications."""
