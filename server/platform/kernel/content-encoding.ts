/** Content codings of stored bodies; the database stores the index. */
export const CONTENT_ENCODINGS = ['none', 'gzip', 'deflate', 'br', 'zstd'] as const
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number]
