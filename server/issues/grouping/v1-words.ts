/**
 * Messages and values for grouping version 1, without what changes from one occurrence to the next. Frozen with
 * `v1.ts`: never changed once issues depend on it.
 */

/** So much is read, so much of the outcome counts: what varies in length must not decide where the text is cut. */
const MAX_READ = 2_048
const MAX_WORDS = 1_024

const REASONS =
  'OK|Bad Request|Unauthorized|Forbidden|Not Found|Method Not Allowed|Conflict|Gone|Unprocessable|Too Many Requests|Internal Server Error|Not Implemented|Bad Gateway|Service Unavailable|Gateway Time-?out'
const DAYS = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}'
const MONTHS = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?`
const ZONE = String.raw`(?: ?(?:Z|(?:GMT|UTC)?[+-]\d\d:?\d\d|GMT|UTC)\b)?`
const ENDINGS =
  'com|net|org|io|dev|app|co|uk|de|eu|fr|nl|za|ke|ng|cn|jp|us|cloud|ai|local|internal|localdomain|test|example'
const UNITS = 'ns|µs|us|ms|s|sec|secs|seconds?|min|minutes?|h|hours?|d|days?'

/** Tried in this order. Codes that mean the same tomorrow come first, whole, and stay. */
const FLEETING = new RegExp(
  [
    String.raw`(?<keep>\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: ?code)?|SQLSTATE|(?:os )?errno|os error|signal|exit (?:code|status))[ =:#[(]{0,3}-?\d[0-9A-Z]{0,4}\b|\b(?:code|returned|responded(?: with)?|answered|got|received|resource:)[ =:]{1,3}[45]\d\d\b|\b[1-5]\d\d (?:${REASONS})\b|\b(?:ORA|PLS|DB2|SQL)-\d{1,6}\b)`,
    String.raw`(?<email>[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})`,
    String.raw`(?<url>\b[a-z][a-z0-9+.-]{1,20}:\/\/[^\s"'<>)\]]{1,1000})`,
    String.raw`(?<path>(?:[A-Za-z]:)?[\\/](?:Users|home|Documents and Settings)[\\/][^\s"'<>:)]{1,500})`,
    String.raw`(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
    String.raw`(?<address>\b0x[0-9a-f]{1,32}\b)`,
    String.raw`(?<date>\b\d{4}-\d\d-\d\d(?:[T ]${CLOCK}${ZONE})?|\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b|\b${DAYS},? (?:\d{1,2} )?${MONTHS} (?:\d{1,2},? )?\d{2,4}(?: ${CLOCK}${ZONE})?|\b\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\b)`,
    String.raw`(?<ip>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b|\b(?=[0-9a-f:]{0,40}\d)(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}\b)`,
    String.raw`(?<host>\b(?:[a-z0-9-]{1,63}\.){1,8}(?:${ENDINGS})(?::\d{1,5})?\b|\blocalhost(?::\d{1,5})?\b)`,
    String.raw`(?<hex>\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,128}\b)`,
    String.raw`(?<duration>\b\d{1,15}(?:\.\d{1,9})? ?(?:${UNITS})\b|\b(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms])){2,5}\b)`,
    String.raw`(?<number>(?<![A-Za-z_\d])[-+]?\d{1,40}(?:\.\d{1,40})?(?:e[-+]?\d{1,4}\b)?|\d{3,})`,
    String.raw`(?<quoted>(?<![\w])'[^'\n]{0,200}'(?!\w)|"[^"\n]{0,200}"|\x60[^\x60\n]{0,200}\x60)`,
    String.raw`(?<boolean>\b(?:true|false)\b)`,
  ].join('|'),
  'giu',
)

/** Replaces what changes from one occurrence to the next by its kind; the first 1,024 characters of that count. */
export function parameterise(text: string): string {
  const head = text.length > MAX_READ ? text.slice(0, MAX_READ) : text
  const words = head.replace(FLEETING, (...found: unknown[]) => {
    const groups = found.at(-1)
    if (typeof groups !== 'object' || groups === null) return ''
    for (const [kind, match] of Object.entries(groups)) {
      if (typeof match === 'string') return kind === 'keep' ? match : `<${kind}>`
    }
    return ''
  })
  return words.length > MAX_WORDS ? words.slice(0, MAX_WORDS) : words
}
