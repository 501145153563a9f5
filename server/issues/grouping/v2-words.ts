import { writeOutCase } from '../../platform/kernel/letter-case.ts'

/**
 * Messages and values for grouping version 2, without what changes from one occurrence to the next. Frozen with
 * `v2.ts`: never changed once issues depend on it.
 */

/** So much is read, so much of the outcome counts: what varies in length must not decide where the text is cut. */
const MAX_READ = 2_048
const MAX_WORDS = 1_024

/** Numbers and phrases of HTTP that belong together. */
const PAIRS =
  '200 OK|201 Created|202 Accepted|204 No Content|206 Partial Content|301 Moved Permanently|302 (?:Found|Moved Temporarily)|303 See Other|304 Not Modified|307 Temporary Redirect|308 Permanent Redirect|400 Bad Request|401 Unauthori[sz]ed|402 Payment Required|403 Forbidden|404 Not Found|405 Method Not Allowed|406 Not Acceptable|407 Proxy Authentication Required|408 Request Time-?out|409 Conflict|410 Gone|411 Length Required|412 Precondition Failed|413 (?:Payload|Content|Request Entity) Too Large|414 (?:Request-)?URI Too Long|415 Unsupported Media Type|416 (?:Requested )?Range Not Satisfiable|417 Expectation Failed|421 Misdirected Request|422 Unprocessable|423 Locked|424 Failed Dependency|425 Too Early|426 Upgrade Required|428 Precondition Required|429 Too Many Requests|431 Request Header Fields Too Large|451 Unavailable For Legal Reasons|4\\d\\d Client Error|500 Internal Server Error|501 Not Implemented|502 Bad Gateway|503 Service (?:Temporarily )?Unavailable|504 Gateway Time-?out|505 HTTP Version Not Supported|507 Insufficient Storage|508 Loop Detected|511 Network Authentication Required|5\\d\\d Server Error'
/** In small letters and after a word they are a sentence about an id (`user 404 not found`) or a count (`200 ok`). */
const SMALL_PAIRS =
  '400 bad request|401 unauthori[sz]ed|403 forbidden|404 not found|405 method not allowed|408 request time-?out|409 conflict|413 payload too large|415 unsupported media type|422 unprocessable|429 too many requests|500 internal server error|501 not implemented|502 bad gateway|503 service (?:temporarily )?unavailable|504 gateway time-?out'
/** What follows a code where the number counts nothing. */
const NO_COUNT =
  '(?![.,]?\\d)(?! (?!(?:from|for|on|in|at|while|when|with|after|before|but|and|or|by|to|via|instead|because|as|during|is|was|retry\\w*|error|response|status|code|reply|answer|http|client|server|bad|unauthori\\w+|forbidden|not|method|conflict|gone|payload|content|unprocessable|too|internal|gateway|service|unexpected\\w*|https?:)\\b)[a-z])'
const DAYS = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}'
const MONTHS = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}'
const CLOCK = String.raw`\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?: ?[AP]M\b)?`
const ZONE = String.raw`(?: ?(?:Z|(?:GMT|UTC)?[+-]\d\d:?\d\d|GMT|UTC)\b)?`
const ENDINGS =
  'com|net|org|io|dev|app|co|uk|de|eu|fr|nl|za|ke|ng|cn|jp|us|cloud|ai|local|internal|localdomain|test|example'
const UNITS = 'ns|[µμ]s|us|ms|s|sec|secs|seconds?|min|minutes?|h|hours?|d|days?'
/** Between a word that announces a code and the code. */
const IS = String.raw`[ =:#[(]{0,3}`
const STATUS_WORDS = 'of|is|was|unacceptable|error|received|not ok|does not indicate success'
/** Folders of a person, of an installation, or of the moment. */
const OWN_FOLDERS = String.raw`Users|home|Documents and Settings|tmp|private[\\/]var|var[\\/](?:mobile|folders|containers|tmp)|data[\\/](?:user|data|app)|storage[\\/]emulated`

/** Codes that mean the same tomorrow. */
const CODES = [
  String.raw`\b(?:HTTP(?:\/\d(?:\.\d)?)?|status(?: ?code)?|(?:os )?errno|os error|WinError|cURL error|signal|exit(?:ed with)? (?:code|status|signal|value))${IS}-?\d[0-9A-Z]{0,4}\b`,
  String.raw`["']?status(?:[ _-]?code)?["']?(?: (?:${STATUS_WORDS}))*${IS}[1-5]\d\d\b`,
  String.raw`\bHTTP(?:[ _-](?:response|status|error|code)){0,3}[ =:#[(-]{1,3}[1-5]\d\d\b|\b(?:SMTP|FTP)${IS}[1-5]\d\d\b`,
  String.raw`\bSQL ?STATE${IS}[0-9A-Z]{5}\b`,
  String.raw`\b(?:code|resource:)(?: an?)?[ =:]{1,3}E?[45]\d\d\b|\b(?:response|returned|responded(?: with)?|answered|got|received|failed(?: with)?|error)(?: an?)?[ =:]{1,3}E?[45]\d\d\b${NO_COUNT}|\([45]\d\d\)|(?<=\s)\[[45]\d\d\]|\b[45]\d\d(?= (?:error|response)\b)`,
  // Names of errno, signals and states, which are quoted where an error was printed.
  String.raw`['"\x60](?-i:E[A-Z]{2,14}|SIG[A-Z0-9]{2,8}|ERR_[A-Z0-9_]{2,60})['"\x60]`,
  String.raw`\b(?:code|sqlstate)['"]?[ =:]{1,3}['"](?=[0-9A-Z]{0,4}\d)[0-9A-Z]{5}['"]`,
  // What ended, and how: `exited with 137`, `closed with code 1006`, `rpc error: code = 14`, `error code 5`, `curl: (28)`.
  String.raw`\bexited with[ :]{1,2}-?\d{1,10}\b(?! (?:error|warn|fail))|\b(?:closed|closure|ended|failed|terminated|disconnected|rpc error:|error)(?: with)? code${IS}-?\d{1,10}\b|\bcurl: \(\d{1,3}\)`,
  // MySQL's: `(1062, "Duplicate entry …")`, `ERROR 1045 (28000)`.
  String.raw`\(\d{4}(?=, ?["'])|\bERROR \d{4} \([0-9A-Z]{5}\)`,
  // JSON: its keys, and the words that say what it is about.
  String.raw`"(?:event|type|kind|code|error|reason|action)" ?: ?"[a-z][a-z_. -]{0,63}"|"[a-z_][\w.-]{0,63}"(?= ?:)`,
  String.raw`\b(?=[2-5]\d\d [a-z])(?:(?-i:${PAIRS})|(?<=(?:^|[^\p{L}\p{N}\s]|\b(?:error|failed|with|code|status|response|got|returned|received|was|is|an?)) {0,2})(?:${SMALL_PAIRS}))\b`,
  String.raw`\b(?:ORA|PLS|DB2|SQL)-\d{1,6}\b`,
  // React and its like ship numbers in place of words.
  String.raw`\bMinified \w{1,40} error #\d{1,4}\b`,
  // Apple's and Swift's: the domain alone says nothing.
  String.raw`\bDomain=[\w.]{1,100} Code=-?\d{1,6}\b|\b\w{1,60}ErrorDomain[ :,(=]{1,3}(?:code|error)?[ :=]{0,3}-?\d{1,6}\b|\bOSStatus(?: error)?${IS}-?\d{1,6}\b|\([\w.]{1,100} error -?\d{1,6}\b`,
  String.raw`\b(?:HRESULT|NTSTATUS|(?:exception|error)(?: code)?)[ =:]{0,3}0x[0-9a-f]{8}\b`,
]

/**
 * Words of 21 characters, as nanoid makes them, in which letters change case within a word, and digits and marks stand
 * between letters, too often for a name.
 */
const NANOID = String.raw`(?<![a-z\d])(?=[\w-]{21}(?![\w-]))(?-i:(?<=(?<![\w-])(?:[a-z]{3,12}[-_])?)(?![a-z]{3,12}[-_])(?=(?:[\w-]*?(?:[a-z](?=[A-Z](?![a-z]{2}))|[A-Z](?=[A-Z][a-z](?![a-z]))|\d(?=[A-Za-z])|[A-Za-z](?=\d)|[-_](?=[A-Z](?![a-z]{2})))){5})(?=[\w-]*[a-z])(?=[\w-]*[A-Z])[\w-]{21})`

/** Tried in this order; codes come first, whole, and stay. */
const FLEETING = new RegExp(
  writeOutCase(
    [
      `(?<keep>${CODES.join('|')})`,
      String.raw`(?<email>[\p{L}\p{N}_.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8})`,
      String.raw`(?<url>\b[a-z][a-z0-9+.-]{1,20}:\/\/(?:[^\s"'<>)[\]]|\[[^\s"'<>[\]]{0,80}\]){1,1000})`,
      String.raw`(?<path>(?<![\w.])(?:[A-Za-z]:)?[\\/](?:${OWN_FOLDERS})[\\/][^\s"'<>:)”]{1,500})`,
      String.raw`(?<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)`,
      String.raw`(?<address>\b0x[0-9a-f]{1,32}\b|(?<=[\w\]]@)(?=[a-f]*\d)[0-9a-f]{4,8}(?![\w.@-])|(?<=\w\{)(?=[a-f]*\d)[0-9a-f]{4,8}(?= ))`,
      String.raw`(?<mac>\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b|\b(?:[0-9a-f]{2}-){5}[0-9a-f]{2}\b)`,
      String.raw`(?<date>\b\d{4}-\d\d-\d\d(?:[T ]${CLOCK}${ZONE})?|\b\d{1,2}[/.]\d{1,2}[/.]\d{4}\b(?:,? ${CLOCK})?|\b${DAYS},? (?:\d{1,2} )?${MONTHS} (?:\d{1,2},? )?\d{2,4}(?: ${CLOCK}${ZONE})?|\b${MONTHS} {1,2}\d{1,2}(?:(?:,? \d{4})?,? ${CLOCK}${ZONE}|,? \d{4}\b)|\b\d{1,2} ${MONTHS} \d{4}(?: ${CLOCK}${ZONE})?|\b\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?(?: ?[AP]M)?| ?[AP]M)\b)`,
      String.raw`(?<ip>\b\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?\b|\[(?=[0-9a-f:]{0,39}::|(?:[0-9a-f]{1,4}:){4})[0-9a-f:.]{2,45}(?:%\w{1,16})?\](?::\d{1,5})?|\b(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}\b|\b(?=[0-9a-f:]{0,40}\d)(?:[0-9a-f]{1,4}:){1,6}(?::[0-9a-f]{1,4}){1,6}\b|(?<![\w:])::(?=[0-9a-f:]{0,40}\d)(?:ffff:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{1,4}(?::[0-9a-f]{1,5}){0,6})(?![\w:]))`,
      String.raw`(?<host>\b(?:[a-z0-9-]{1,63}\.){1,8}(?:${ENDINGS})(?::\d{1,5})?\b|\blocalhost(?::\d{1,5})?\b)`,
      // Short ones begin with a digit, or stand behind a word with a dash: `req-f3a2b`.
      String.raw`(?<hex>\b(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,128}\b|\b(?=\d{1,6}[a-f])(?!\d{1,6}e\d{1,4}\b)[0-9a-f]{5,6}\b|(?<=[a-z]{2}[-_])(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{5,6}\b)`,
      // JSON Web Tokens, ULIDs, what Kubernetes puts behind the name of a pod, and long words in which digits stand between letters three times and more.
      String.raw`(?<token>\beyJ[\w-]{8,1000}\.[\w-]{2,1000}(?:\.[\w-]{0,1000})?|\b[0-7][0-9a-hjkmnp-tv-z]{25}\b|(?<=[a-z\d])-(?=[a-z]{0,10}-?[a-z]{0,5}\d)[b-df-hj-np-tv-xz2-9]{5,10}-[b-df-hj-np-tv-xz2-9]{5}(?![\w-])|(?<=[a-z]_)(?-i:(?=[A-Za-z]*\d)(?=[A-Z\d]*[a-z])(?=[a-z\d]*[A-Z])[A-Za-z\d]{14,64}\b)|(?<![\w-])(?=\d*(?:[a-z_-]*[a-z]\d+(?=[a-z])){3})[\w-]{16,256}(?![\w-])|${NANOID}|\b(?=\d{1,16}[a-z]{1,16}\d)(?!\d{1,9}(?:e\d|st|nd|rd|th|x\d)|(?:\d{1,9}(?:ms|[dhms])){2,5}\b)[\da-z]{5,64}\b)`,
      String.raw`(?<duration>\b\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,9})? ?(?:${UNITS})\b|\b(?:\d{1,9}(?:\.\d{1,9})?(?:ms|[dhms])){2,5}\b)`,
      String.raw`(?<size>\b\d{1,20}(?:,\d{3}){0,5}(?:\.\d{1,9})? ?(?:[kmgtp]i?b|bytes?)\b)`,
      String.raw`(?<number>(?<![A-Za-z_\d])[-+]?(?:\d{1,3}(?:,\d{3}){1,8}(?!\d)(?:\.\d{1,40})?|\d{1,40}(?:\.\d{1,40})?(?:e[-+]?\d{1,4}\b)?)|\d{3,})`,
      String.raw`(?<quoted>(?<![\w])'[^'\n]{0,200}'(?!\w)|"[^"\n]{0,200}"|\x60[^\x60\n]{0,200}\x60|“[^”\n]{0,200}”|„[^“”\n]{0,200}[“”]|«[^»\n]{0,200}»|‘[^’\n]{0,200}’)`,
      String.raw`(?<boolean>\b(?:true|false)\b)`,
    ].join('|'),
    true,
  ),
  'gu',
)

/** How many there were is chance: `1, 2, 3`. */
const LIST = /(<[a-z]{2,8}>)(?:[,;] ?\1)+/g

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
  const short = words.replace(LIST, '$1').replaceAll(/\s+/g, ' ').trim()
  return short.length > MAX_WORDS ? short.slice(0, MAX_WORDS) : short
}
