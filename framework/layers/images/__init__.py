"""Layers that resize, crop and augment images, with their labels, bounding boxes and masks."""
