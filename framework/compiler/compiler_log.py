"""What the compiler says of itself, on the log `framework`."""


def tell(sentence, error=None):
    """Say something; where an error led to it, its traceback is there for those who debug."""
    import logging

    logger = logging.getLogger("framework")
    logger.warning(sentence)
    if error is not None:
        logger.debug("Traceback:", exc_info=error)


def brief(error):
    """An error in a sentence: its class and the first line of its text."""
    text = (str(error).strip().splitlines() or [""])[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
