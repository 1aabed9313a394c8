from framework.keras.layers.experimental import preprocessing as preprocessing
