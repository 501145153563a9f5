/** The replacement of a secret. */
export const FILTERED = '[Filtered]'

/** The replacement of text that a rule of a project would search at too high a cost. */
export const TOO_COSTLY = '[Filtered: too costly]'

/** E-mail addresses, also in URLs, but not `shop@1.0.0`, a release. */
export const EMAIL = /[\w.+%-]{1,64}(?:@|%40)(?!\d+\.\d)(?:[A-Za-z0-9-]{1,63}\.){1,8}[A-Za-z][A-Za-z0-9-]{1,62}/g

/** Parts that defaults never scrub; rules of a project may name them. */
export const EXEMPT: ReadonlySet<string> = new Set([
  'debug_meta',
  '_meta',
  'sdk',
  'modules',
  'filename',
  'abs_path',
  'function',
  'raw_function',
  'module',
  'package',
  'platform',
  'level',
  'code_file',
  'debug_file',
  'user-agent',
  'user_agent',
  'http_user_agent',
  'event_id',
  'trace_id',
  'span_id',
  'parent_span_id',
  'timestamp',
  'instruction_addr',
  'lineno',
  'colno',
  'in_app',
  'registers',
])
