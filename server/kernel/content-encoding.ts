/** Content codings a body may be kept in; the index is the number stored. */
export const CONTENT_ENCODINGS = ['none', 'gzip', 'deflate', 'br', 'zstd'] as const
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number]
