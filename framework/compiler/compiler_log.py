"""Log messages of the compiler, under the logger name `framework`."""


def tell(sentence, error=None):
    """Log `sentence` as a warning, and at level DEBUG the traceback of the error that caused it."""
    import logging

    logger = logging.getLogger("framework")
    logger.warning(sentence)
    if error is not None:
        logger.debug("Traceback:", exc_info=error)


def brief(error):
    """Return the class and the first line of the message of an error."""
    text = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
