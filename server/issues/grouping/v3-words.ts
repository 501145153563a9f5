import { parameterise as parameteriseV2 } from './v2-words.ts'

/**
 * Messages and values for grouping version 3: the rules of version 2, with tokens replaced whole and texts that only look
 * like a key or a code. Frozen with `v3.ts`: never changed once issues depend on it.
 */

/** So much is read; version 2 has the same limit. */
const MAX_READ = 2_048

/** Version 2 keeps a quoted word before a colon as a key of JSON, and one in capitals that begins with E as an errno. */
const KEY_OR_CODE = /(?<![{,]\s{0,8})"([A-Za-z_][\w.-]{0,63})"(?= ?:)|(['"`])(E[A-Z]{2,14})\2/g
const ERRNO =
  /^E(?:2BIG|ACCES|ADDRINUSE|ADDRNOTAVAIL|AFNOSUPPORT|AGAIN|ALREADY|BADF|BADMSG|BUSY|CANCELED|CANCELLED|CHILD|CONNABORTED|CONNREFUSED|CONNRESET|DEADLK|DEADLOCK|DESTADDRREQ|DOM|DQUOT|EXIST|EXIST|FAULT|FBIG|HOSTDOWN|HOSTUNREACH|IDRM|ILSEQ|INPROGRESS|INTR|INVAL|IO|ISCONN|ISDIR|LOOP|MFILE|MLINK|MSGSIZE|MULTIHOP|NAMETOOLONG|NETDOWN|NETRESET|NETUNREACH|NFILE|NOBUFS|NODATA|NODEV|NOENT|NOEXEC|NOLCK|NOLINK|NOMEM|NOMSG|NOPROTOOPT|NOSPC|NOSR|NOSTR|NOSYS|NOTCONN|NOTDIR|NOTEMPTY|NOTFOUND|NOTSOCK|NOTSUP|NXIO|OPNOTSUPP|OVERFLOW|PERM|PFNOSUPPORT|PIPE|PROTO|PROTONOSUPPORT|PROTOTYPE|RANGE|ROFS|SERVFAIL|SHUTDOWN|SOCKTNOSUPPORT|SPIPE|SRCH|STALE|TIME|TIMEDOUT|TIMEOUT|TOOMANYREFS|TXTBSY|USERS|WOULDBLOCK|XDEV|XIST|REQUEST|LIFECYCLE|INTEGRITY|RESOLVE|RR|OF|FORMERR|REFUSED|BADRESP|BADNAME)$/

/** Versions with two dots or a `v`, and with what is behind them: `1.4.0-beta.2`, `v2.45`. */
const VERSION =
  /(?<![\w.-])(v)?(\d{1,6})((?:\.\d{1,9}){1,4})((?:[-+](?=[0-9A-Za-z.]{0,20}\d|(?:alpha|beta|rc|dev|snapshot|pre|final)\b)[0-9A-Za-z.-]{1,40})?)(?![\w.]*\w)/gi
/** Tokens of capitals and digits in three parts and more, or that begin with digits. */
const CODE_OF_PARTS =
  /(?<![\w.-])(?=[A-Z\d_-]*\d)(?=[\d_-]*[A-Z])(?!\d{4}-\d\d-\d\d|(?:[0-9A-F]{2}-){5}|[0-9A-F]{8}-[0-9A-F]{4}-)(?:[A-Z\d]{1,12}[-_]){1,5}[A-Z\d]{1,16}(?![\w-])/g

/** Short tokens of capitals in which digits stand apart twice, and those that end with a letter or two. */
const MIXED =
  /(?<![\w.-])(?:(?=[A-Z\d]{7,40}(?![\w-]))[A-Z]*\d+[A-Z]+\d[A-Z\d]*|[A-Za-z]{1,12}[-_]\d{1,12}[-_][A-Za-z]{1,2}(?![\w-]))/g
/** Which chunk of which build is missing is chance. */
const CHUNK = /\b(Loading (?:CSS )?chunk) [\w./~@[\]-]{1,200} (failed|has failed)/gi
/** A name with an apostrophe in single quotes. */
const APOSTROPHE = /(?<!\w)'\w[\w .-]{0,40}'\w[\w .-]{0,40}'(?!\w)/g

/** Names of templates say which one is meant. */
const TEMPLATE =
  /(['"`])((?:[\w@.-]{1,60}[\\/:]){0,8}[\w.-]{1,80}\.(?:twig|blade\.php|tpl|latte|erb|haml|slim|jsp|cshtml|ftl|hbs|ejs|pug|mustache|jinja2?|j2))\1/g

/** Names of classes with their namespace say what is missing; accounts of a domain look different. */
const CLASS = /(['"`])((?:[A-Z]\w{1,80}(?:\\{1,2}|::)){1,10}[A-Z]\w{1,80}|(?:[a-z]\w{0,60}\.){2,10}[A-Z]\w{0,100})\1/g

/** Replaces what changes from one occurrence to the next by its kind. */
export function parameterise(text: string): string {
  let head = text.length > MAX_READ ? text.slice(0, MAX_READ) : text
  if (head.includes('"') || head.includes("'") || head.includes('`'))
    head = head
      .replaceAll(TEMPLATE, '<$2>')
      .replaceAll(CLASS, (whole: string, _quote: string, name: string) =>
        name.split(/\\{1,2}|::/).every((part) => /[a-z]/.test(part)) ? `<${name}>` : whole,
      )
      .replaceAll(APOSTROPHE, '<quoted>')
      .replaceAll(KEY_OR_CODE, (whole: string, key?: string, _quote?: string, code?: string) =>
        key !== undefined || (code !== undefined && !ERRNO.test(code)) ? '<quoted>' : whole,
      )
  if (head.includes('hunk ')) head = head.replaceAll(CHUNK, '$1 <id> $2')
  if (/\d[-._A-Z]|[-._]\d/.test(head))
    head = head
      .replaceAll(VERSION, (whole: string, mark: string | undefined, _first: string, rest: string, tail: string) =>
        isVersion(mark, rest, tail) ? `${mark ?? ''}<number>` : whole,
      )
      .replaceAll(CODE_OF_PARTS, (whole: string) => (isToken(whole) ? '<token>' : whole))
      .replaceAll(MIXED, '<token>')
  return parameteriseV2(head)
}

/** Four numbers are an address of a network, and two are a number with a fraction. */
function isVersion(mark: string | undefined, rest: string, tail: string): boolean {
  const dots = rest.split('.').length - 1
  return mark !== undefined || dots === 2 || dots === 4 || (dots === 3 && (tail !== '' || /\d{4}/.test(rest)))
}

/** Codes of databases and standards have two parts: `ORA-00942`, `UTF-8`. */
function isToken(text: string): boolean {
  const parts = text.split(/[-_]/)
  return (parts.length > 2 && !/^(?:ISO|RFC|ERR)/.test(text)) || /^\d/.test(text)
}

// --- Errors of JavaScript -----------------------------------------------------------------------------------------

const PROPERTY = [
  /\((?:reading|setting|evaluating) ['"]([^'"]{1,200})['"]\)/,
  /^Cannot (?:read|set) propert(?:y|ies) ['"]([^'"]{1,200})['"] of /,
  /^can't access property ['"]?([^'",]{1,200})['"]?, /,
  /^Unable to (?:get|set) property ['"]([^'"]{1,200})['"] of /,
  /^Object doesn't support property or method ['"]([^'"]{1,200})['"]/,
  /^Cannot destructure property ['"]([^'"]{1,200})['"]/,
  /^(?:undefined|null) is not a function \(near ['"]\.{0,3}([^'"]{1,200}?)\.{0,3}['"]\)/,
  /^Can't find variable: ([\w$]{1,200})/,
  /^([\w$.[\]()]{1,200}) is (?:not (?:a function|a constructor|defined|iterable|an object)|undefined|null)\b/,
]

/** A request that got no answer, in Chrome, Safari and Firefox. */
const NO_ANSWER = /^(?:Failed to fetch|Load failed|NetworkError when attempting to fetch resource)\b/

/** The property that an error of the engine is about, which each browser says in its own words; null where it names none. */
export function findProperty(type: string | null, value: string): string | null {
  if (type !== 'TypeError' && type !== 'ReferenceError') return null
  if (NO_ANSWER.test(value)) return 'fetch'
  for (const pattern of PROPERTY) {
    const found = pattern.exec(value)?.[1]
    if (found === undefined) continue
    const name = /([\w$-]+)(?:\([^()]*\)|\[[^[\]]*\])*\)?$/.exec(found)?.[1] ?? found
    return /^\d+$/.test(name) ? '<number>' : name
  }
  return null
}

/** Errors of engines, worded by the engine. */
export const isOfEngine = (type: string | null): boolean =>
  type !== null &&
  /^(?:Type|Reference|Range|Syntax|URI|Eval|Internal|Aggregate|Abort|Security|Quota\w*|Network)Error$|^DOMException$/.test(
    type,
  )
