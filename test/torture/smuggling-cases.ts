import { random } from '#bench/payloads.ts'
import { envelopePath, type Target } from './target.ts'

export type RawCase = {
  readonly name: string
  readonly bytes: Buffer
  /**
   * `refused`: 400 and the end of the connection. `lawful`: unusual, but HTTP: any answer below 500. `echo`: must not
   * be in a header of the answer.
   */
  readonly want: 'refused' | 'lawful' | 'echo'
}

/** The second request on the connection of a refused one; the intake counts it, if anything reads it. */
export const second = ({ project }: Target): string =>
  `GET /api/${project.number}/smuggled/ HTTP/1.1\r\nhost: localhost\r\n\r\n`

/** Header lines that two parsers may read differently: where does the body end? */
const AMBIGUOUS: [string, string][] = [
  ['both length and chunks', 'content-length: 5\r\ntransfer-encoding: chunked'],
  ['chunks and then length', 'transfer-encoding: chunked\r\ncontent-length: 5'],
  ['two lengths', 'content-length: 5\r\ncontent-length: 6'],
  ['the same length twice', 'content-length: 5\r\ncontent-length: 5'],
  ['a list of lengths', 'content-length: 5, 5'],
  ['a list of other lengths', 'content-length: 5, 6'],
  ['a signed length', 'content-length: +5'],
  ['a negative length', 'content-length: -5'],
  ['a hexadecimal length', 'content-length: 0x5'],
  ['a length with a fraction', 'content-length: 5.0'],
  ['an exponent', 'content-length: 1e2'],
  ['a length with an underscore', 'content-length: 1_0'],
  ['an empty length', 'content-length:'],
  ['a length of 2^64+5', 'content-length: 18446744073709551621'],
  ['a length of a hundred digits', `content-length: ${'9'.repeat(100)}`],
  ['a length in two words', 'content-length: 5 5'],
  ['chunks twice', 'transfer-encoding: chunked, chunked'],
  ['chunks before another coding', 'transfer-encoding: chunked, gzip'],
  ['a coding and chunks', 'transfer-encoding: gzip, chunked'],
  ['identity', 'transfer-encoding: identity'],
  ['an unknown coding', 'transfer-encoding: xchunked'],
  ['a coding with a parameter', 'transfer-encoding: chunked;q=1'],
  ['a quoted coding', 'transfer-encoding: "chunked"'],
  ['an empty coding', 'transfer-encoding:'],
  ['an empty element', 'transfer-encoding: , chunked'],
  ['codings in two lines', 'transfer-encoding: identity\r\ntransfer-encoding: chunked'],
  ['codings in two lines, the other way', 'transfer-encoding: chunked\r\ntransfer-encoding: identity'],
  ['a vertical tab', 'transfer-encoding: \x0bchunked'],
  ['a form feed after it', 'transfer-encoding: chunked\x0c'],
  ['a NUL', 'transfer-encoding: chunked\0'],
  ['a folded line', 'transfer-encoding:\r\n chunked'],
  ['a folded line with a tab', 'content-length:\r\n\t5'],
  ['a space before the colon', 'content-length : 5'],
  ['a tab before the colon', 'transfer-encoding\t: chunked'],
  ['a space before the name', ' content-length: 5'],
  ['a name with a control character', 'content-\x01length: 5'],
  ['a name in parentheses', 'x(y): 1'],
  ['no name', ': 5'],
  ['no colon', 'content-length 5'],
  ['a bare CR', 'x: a\rcontent-length: 5'],
  ['a bare LF inside a value', 'x: a\ncontent-length: 5'],
  ['a CR at the end', 'content-length: 5\r\r'],
  ['a NUL in a value', 'x: a\0b'],
  ['two hosts', 'content-length: 5\r\nHost: other'],
  ['a high byte in a name', 'c\xf6ntent-length: 5'],
]

const BAD_CHUNKS: [string, string][] = [
  ['not hexadecimal', 'zz\r\nhello\r\n0\r\n\r\n'],
  ['with 0x', '0x5\r\nhello\r\n0\r\n\r\n'],
  ['negative', '-5\r\nhello\r\n0\r\n\r\n'],
  ['signed', '+5\r\nhello\r\n0\r\n\r\n'],
  ['of 2^68', 'fffffffffffffffff\r\nhello\r\n0\r\n\r\n'],
  ['of a hundred digits', `${'f'.repeat(100)}\r\nhello\r\n0\r\n\r\n`],
  ['with a space after it', '5 \r\nhello\r\n0\r\n\r\n'],
  ['with a space before it', ' 5\r\nhello\r\n0\r\n\r\n'],
  ['with a tab', '5\t\r\nhello\r\n0\r\n\r\n'],
  ['longer than it says', '5\r\nhelloX\r\n0\r\n\r\n'],
  ['shorter than it says', '9\r\nhello\r\n0\r\n\r\n'],
  ['ended by LF alone', '5\nhello\n0\n\n'],
  ['ended by CR alone', '5\rhello\r0\r\r'],
  ['with LF in its extension', '5;a\nb\r\nhello\r\n0\r\n\r\n'],
  ['with a NUL in its extension', '5;a\0b\r\nhello\r\n0\r\n\r\n'],
  ['without a size', '\r\nhello\r\n0\r\n\r\n'],
  ['with a comma', '5,5\r\nhello\r\n0\r\n\r\n'],
  ['and a length as trailer', '5\r\nhello\r\n0\r\ncontent-length: 5\r\n\r\n'],
  ['and a trailer without colon', '5\r\nhello\r\n0\r\njunk line\r\n\r\n'],
  ['and a folded trailer', '5\r\nhello\r\n0\r\n folded: 1\r\n\r\n'],
  ['with 20 KiB of extension', `5;${'x'.repeat(20 * 1024)}\r\nhello\r\n0\r\n\r\n`],
]

const BAD_LINES: [string, string][] = [
  ['a tab for a space', 'POST\t{path}\tHTTP/1.1'],
  ['a lower-case method', 'post {path} HTTP/1.1'],
  ['an unknown method', 'SMUGGLE {path} HTTP/1.1'],
  ['a method with a colon', 'POST: {path} HTTP/1.1'],
  ['a space in the address', 'POST {path} x HTTP/1.1'],
  ['a control character in the address', 'POST {path}\x01 HTTP/1.1'],
  ['a high byte in the address', 'POST {path}\xff HTTP/1.1'],
  ['a NUL in the address', 'POST {path}\0 HTTP/1.1'],
  ['HTTP/2.0', 'POST {path} HTTP/2.0'],
  ['HTTP/1.2', 'POST {path} HTTP/1.2'],
  ['HTTP/3.0', 'POST {path} HTTP/3.0'],
  ['lower-case http', 'POST {path} http/1.1'],
  ['a version in words', 'POST {path} HTTP/one'],
  ['a version behind a version', 'POST {path} HTTP/1.1 HTTP/1.1'],
  ['no version and headers', 'POST {path}'],
  ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM'],
  ['the beginning of TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ['an address of 9 KiB', `POST {path}&${'a'.repeat(9 * 1024)} HTTP/1.1`],
]

/** Headers whose values clients choose and our code reads. */
const USER_CONTROLLED = [
  'host',
  'x-sentry-auth',
  'authorization',
  'user-agent',
  'origin',
  'referer',
  'x-forwarded-for',
  'content-type',
  'content-encoding',
  'cookie',
  'accept',
  'sentry-trace',
  'baggage',
  'x-request-id',
  'access-control-request-method',
  'if-none-match',
  'range',
  'expect',
]

/** How a line break may hide in a value: cut to one byte per character, U+010D and U+010A are CR and LF. */
const BREAKS: [string, string, 'refused' | 'echo'][] = [
  ['bare LF', '\n', 'refused'],
  ['bare CR', '\r', 'refused'],
  ['a folded line', '\r\n ', 'refused'],
  ['percent signs', '%0d%0a', 'echo'],
  ['wide characters', Buffer.from('\u010d\u010a').toString('latin1'), 'echo'],
  ['a NUL', '\0', 'refused'],
]

/** About 300 raw requests (T-14), the same for the same seed. */
export function smugglingCases(target: Target, seed: number): RawCase[] {
  const rand = random(seed)
  const envelope = envelopePath(target)
  const paths = [
    envelope,
    '/api/auth/login',
    `/api/${target.project.number}/store/?sentry_key=${target.project.publicKey}`,
  ]
  const pathOf = (): string => paths[Math.floor(rand() * paths.length)] ?? envelope
  const cases: RawCase[] = []
  const behind = second(target)
  const add = (want: RawCase['want'], name: string, text: string): void =>
    void cases.push({ name, want, bytes: Buffer.from(text, 'latin1') })
  const chunked = '5\r\nhello\r\n0\r\n\r\n'

  for (const [name, lines] of AMBIGUOUS) {
    for (const spelled of spellings(lines, rand)) {
      const path = pathOf()
      add(
        'refused',
        `${name} (${path})`,
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${spelled}\r\n\r\n${chunked}${behind}`,
      )
    }
    add('refused', `${name}, no body`, `GET ${envelope} HTTP/1.1\r\nhost: localhost\r\n${lines}\r\n\r\n${behind}`)
  }
  for (const [name, chunks] of BAD_CHUNKS) {
    for (const path of paths)
      add(
        'refused',
        `a chunk ${name} (${path})`,
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${chunks}${behind}`,
      )
  }
  for (const [name, line] of BAD_LINES)
    add('refused', name, `${line.replace('{path}', envelope)}\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n${behind}`)
  add('refused', 'no host', `GET /healthz HTTP/1.1\r\n\r\n${behind}`)
  add('refused', 'LF for CRLF', `GET /healthz HTTP/1.1\nhost: localhost\n\n${behind}`)
  add(
    'refused',
    '17 KiB of headers',
    `GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ${'a'.repeat(17 * 1024)}\r\n\r\n${behind}`,
  )
  add('refused', '101 headers', `GET /healthz HTTP/1.1\r\nhost: localhost\r\n${'x: 1\r\n'.repeat(101)}\r\n${behind}`)
  add(
    'refused',
    'chunks in HTTP/1.0',
    `POST ${envelope} HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n${chunked}${behind}`,
  )

  for (const header of USER_CONTROLLED) {
    for (const [name, lineBreak, want] of BREAKS) {
      if (header === 'host' && want === 'echo') continue
      const path = rand() < 0.7 ? envelope : '/api/me'
      add(
        want,
        `${name} in ${header}`,
        `POST ${path} HTTP/1.1\r\n${header === 'host' ? '' : 'host: localhost\r\n'}${header}: a${lineBreak}x-injected: 1\r\ncontent-length: 3\r\n\r\n{}\n${want === 'refused' ? behind : ''}`,
      )
    }
  }
  for (const encoded of ['%0d%0a', '%0D%0A%20', '%c4%8d%c4%8a', '%E5%98%8D%E5%98%8A', '%250d%250a', '%00%0d%0a']) {
    const value = `a${encoded}x-injected:%201`
    for (const path of [
      `/api/${target.project.number}/envelope/?sentry_key=${value}`,
      `${envelope}&sentry_client=${value}`,
      `/api/${target.project.number}/${value}/`,
      `/api/${value}`,
      `/${value}`,
      `/docs/${value}`,
    ])
      add(
        'echo',
        `a line break in ${path}`,
        `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\n{}\n`,
      )
  }

  const empty = `POST ${envelope} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\n{}\n`
  add('lawful', 'HTTP/1.0 without a host', `POST ${envelope} HTTP/1.0\r\ncontent-length: 3\r\n\r\n{}\n`)
  add(
    'lawful',
    'HTTP/1.0 that stays',
    `POST ${envelope} HTTP/1.0\r\nconnection: keep-alive\r\ncontent-length: 3\r\n\r\n{}\n`,
  )
  add('lawful', 'ten requests in one packet', empty.repeat(10))
  add(
    'lawful',
    'a body on GET',
    `GET ${envelope} HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${behind.length}\r\n\r\n${behind}`,
  )
  add('lawful', 'empty lines first', `\r\n\r\n${empty}`)
  add(
    'lawful',
    'an address with a host',
    `POST http://other.example${envelope} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 3\r\n\r\n{}\n`,
  )
  add('lawful', 'CONNECT', `CONNECT x:80 HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  add(
    'lawful',
    'an upgrade',
    `GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n${behind}`,
  )
  add(
    'lawful',
    'an upgrade to h2c',
    `GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n\r\n${behind}`,
  )
  add(
    'lawful',
    'an expectation that is not met',
    `POST ${envelope} HTTP/1.1\r\nhost: localhost\r\nexpect: 200-ok\r\ncontent-length: 0\r\n\r\n`,
  )
  add(
    'lawful',
    'names with an underscore',
    `POST ${envelope} HTTP/1.1\r\nhost: localhost\r\ncontent_length: 50\r\ntransfer_encoding: chunked\r\ncontent-length: 3\r\n\r\n{}\n`,
  )
  add(
    'lawful',
    'a chunk by the byte',
    `POST ${envelope} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: ChUnKeD\r\n\r\n1\r\n{\r\n1;a=b\r\n}\r\n1\r\n\n\r\n0\r\nx-trailer: 1\r\n\r\n`,
  )
  return cases
}

/** The lines as they are and in another spelling: case of names and spaces around values do not matter. */
function spellings(lines: string, rand: () => number): string[] {
  const other = lines
    .split('\r\n')
    .map((line) =>
      line.replace(/^[a-z-]+(?=:)/, (name) => name.replace(/[a-z]/g, (c) => (rand() < 0.5 ? c.toUpperCase() : c))),
    )
    .join('\r\n')
    .replace(/: /g, () => (rand() < 0.5 ? ':   ' : ':\t'))
  return other === lines ? [lines] : [lines, other]
}
