import { ConfigError, list, type Settings } from './environment.ts'

/** A JetStream stream that takes requests before the database does. */
export type IntakeLogSettings = {
  /** `host:port` each. */
  readonly servers: readonly string[]
  readonly user: string | null
  readonly password: string | null
  /** Alone in front of the `@` of the address. */
  readonly token: string | null
  /** The text of a credentials file. */
  readonly credentials: string | null
  readonly isTls: boolean
  /** Certificates in PEM form that sign the servers'; null: those of the system. */
  readonly ca: string | null
  readonly stream: string
  readonly replicas: number
  readonly maxBytes: number
}

/** @throws ConfigError when settings of the log do not fit together; it names no content */
export function readIntakeLog(env: Settings): IntakeLogSettings | null {
  const { SPOOL_URL: url, SPOOL_CREDENTIALS: credentials = null, SPOOL_CA: ca = null } = env
  if (url === undefined) {
    if (credentials !== null || ca !== null)
      throw new ConfigError(`${credentials === null ? 'SPOOL_CA' : 'SPOOL_CREDENTIALS'} needs SPOOL_URL.`)
    return null
  }
  const rest = url.slice(url.indexOf('://') + 3)
  const at = rest.lastIndexOf('@')
  const servers = list(rest.slice(at + 1))
  const [name, password] = at === -1 ? [] : partsOfUser(rest.slice(0, at)).map(decodedText)
  if (servers.length === 0 || servers.some((server) => !URL.canParse(`http://${server}`)))
    throw new ConfigError('SPOOL_URL must name servers as host:port, separated by commas.')
  if (name !== undefined && credentials !== null)
    throw new ConfigError('SPOOL_URL has a user or token, and SPOOL_CREDENTIALS is set: keep one of them.')
  return Object.freeze({
    servers,
    user: password === undefined ? null : (name ?? null),
    password: password ?? null,
    token: password === undefined ? (name ?? null) : null,
    credentials,
    isTls: url.startsWith('tls:') || ca !== null,
    ca,
    stream: env.SPOOL_STREAM,
    replicas: Number(env.SPOOL_REPLICAS),
    maxBytes: env.SPOOL_MAX_MB * 1024 * 1024,
  })
}

/** Name and password; a token alone. A password may hold colons. */
const partsOfUser = (text: string): string[] =>
  text.includes(':') ? [text.slice(0, text.indexOf(':')), text.slice(text.indexOf(':') + 1)] : [text]

/** @throws ConfigError when it is not written as parts of addresses are */
function decodedText(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ConfigError('SPOOL_URL has a user or password with a % that is not written as %25.')
  }
}
