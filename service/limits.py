"""The limits of a request, and what waits and is kept: the one table. Operators turn none of these."""

# Of a request. An error names the limit that a field exceeds.
MAX_BODY_BYTES = 524_288
MAX_BODY_MARKS = 40_000  # brackets and commas: JSON that is all values takes the event loop 0.4 µs for each
MAX_QUERY_BYTES = 8_192  # as long as a line may be in docker/nginx.conf
MAX_TEXTS = 256
MAX_WORD_CHARACTERS = 100
MAX_TARGETS = 16
MAX_K = 50  # answers to one text in one language
MAX_ANSWERS = 3_000  # texts times targets times k

# Files to be translated, and how long those that are filled can be fetched.
MAX_FILE_BYTES = 4_194_304
MAX_FILE_TEXTS = 5_000
MAX_FILE_SENTENCES = 5_000  # that are looked up by themselves, of texts that are not known as a whole
MAX_BOARD_PHRASES = 5_000  # of a table that is read for the page
MAX_FILES = 3  # at a time, from the first byte read to the last one written; more get 503
MAX_KEPT_BYTES = 268_435_456  # all filled files together
KEPT_SECONDS = 600

# Jobs that change the index.
MAX_CORPUS_BYTES = 2_147_483_648  # of one file, decompressed
MAX_SPOOL_BYTES = 4_294_967_296  # all uploads together
JOB_KEPT_SECONDS = 604_800  # finished jobs and unused uploads
JOB_SECONDS = 86_400  # until a job is stopped
WORKER_SILENCE_SECONDS = 60  # after which another worker takes its job

# A server process.
CACHE_SECONDS = 86_400  # that an answer is cached
WATCH_SECONDS = 0.2  # between checks for a new version of the index
KEEP_ALIVE_SECONDS = 5  # of an idle connection: longer than docker/nginx.conf keeps one
SHUTDOWN_SECONDS = 10  # for running requests, after drain_seconds
