from framework.keras.ops.image_resizing import (
    crop_images as crop_images, pad_images as pad_images, resize as resize,
)  # fmt: skip
from framework.keras.ops.image_warping import affine_transform as affine_transform
