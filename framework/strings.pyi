from framework.functions.joining import (
    format as format, join as join, reduce_join as reduce_join,
    unsorted_segment_join as unsorted_segment_join,
)  # fmt: skip
from framework.functions.strings import (
    as_string as as_string, length as length, lower as lower, regex_full_match as regex_full_match,
    regex_replace as regex_replace, strip as strip, substr as substr,
    to_hash_bucket as to_hash_bucket, to_hash_bucket_fast as to_hash_bucket_fast,
    to_hash_bucket_strong as to_hash_bucket_strong, to_number as to_number, upper as upper,
)  # fmt: skip
from framework.functions.unicode import (
    bytes_split as bytes_split, ngrams as ngrams, split as split, unicode_decode as unicode_decode,
    unicode_decode_with_offsets as unicode_decode_with_offsets, unicode_encode as unicode_encode,
    unicode_split as unicode_split, unicode_split_with_offsets as unicode_split_with_offsets,
    unicode_transcode as unicode_transcode,
)  # fmt: skip
from framework.functions.unicode_scripts import unicode_script as unicode_script
