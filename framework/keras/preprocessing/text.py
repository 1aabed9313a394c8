"""keras.preprocessing.text: conversion of the words of texts to numbers."""

from framework.core.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
