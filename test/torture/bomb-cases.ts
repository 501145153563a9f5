import { randomBytes } from 'node:crypto'
import zlib from 'node:zlib'
import { random } from '#bench/payloads.ts'
import type { Target } from './target.ts'

export type Bomb = {
  readonly name: string
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Large, and within every limit: it must be accepted, with memory for its size. */
  readonly lawful?: true
}

const KIB = 1024
const MIB = 1024 * KIB
const WIRE_MIB = 20

/** Repeats `part` up to `bytes`. */
const repeated = (part: Buffer, bytes: number): Buffer =>
  Buffer.concat(Array.from({ length: Math.max(1, Math.floor(bytes / part.length)) }, () => part))

/** A zstd frame of `blocks` RLE blocks of 128 KiB zeros, four bytes each (RFC 8878 §3.1.1.2): 32,000:1. */
function zstdOfRuns(blocks: number): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58])
  // Last block | type RLE | size, then the repeated byte.
  const block = Buffer.alloc(4)
  block.writeUIntLE(((128 * KIB) << 3) | (1 << 1), 0, 3)
  const body = Buffer.alloc(blocks * 4, block)
  body.writeUInt8(body.readUInt8(body.length - 4) | 1, body.length - 4)
  return Buffer.concat([header, body])
}

/** A frame that asks for a window of 2^`log` bytes before any content. */
function zstdWindow(log: number): Buffer {
  return Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (log - 10) << 3, 0x01, 0x00, 0x00])
}

/**
 * About 200 small bodies that become large (T-10), in every coding and at every size up to the limit of the wire, for
 * every endpoint that decodes. Zip archives belong to uploads, which have no endpoint yet.
 */
export function bombCases({ project }: Target, seed: number): Bomb[] {
  const rand = random(seed)
  const envelope = `/api/${project.number}/envelope/?sentry_key=${project.publicKey}`
  const store = `/api/${project.number}/store/?sentry_key=${project.publicKey}`
  const cases: Bomb[] = []
  const add = (name: string, encoding: string | null, body: Buffer, path = envelope): void => {
    cases.push({ name, path, body, headers: encoding === null ? {} : { 'content-encoding': encoding } })
  }
  const zeros = Buffer.alloc(10 * MIB)
  const gzipped = zlib.gzipSync(zeros, { level: 9 })
  const deflated = zlib.deflateSync(Buffer.alloc(200 * MIB), { level: 9 })
  const brotli100 = zlib.brotliCompressSync(Buffer.alloc(100 * MIB), {
    params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 9, [zlib.constants.BROTLI_PARAM_LGWIN]: 24 },
  })
  const json = Buffer.from(`{}\n{"type":"event"}\n{"message":"${'a'.repeat(30 * MIB)}"}`)
  const packedJson = zlib.gzipSync(json)
  const brotliJson = zlib.brotliCompressSync(json, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } })
  const nested = [2, 3, 10].map((layers) => {
    let body: Buffer = zeros
    for (let layer = 0; layer < layers; layer++) body = zlib.gzipSync(body)
    return { layers, body }
  })
  const sizes = [1, 10, 64, 65, 100, 1_000, 5_000, 10_000, WIRE_MIB * KIB - 100]
  const both: [string, string][] = [
    ['envelope', envelope],
    ['store', store],
  ]
  for (const [where, path] of both) {
    for (const kib of sizes) {
      // Every size differs a little, so that runs reach different boundaries.
      const bytes = Math.floor(kib * KIB * (0.9 + rand() * 0.1))
      add(`gzip 1000:1, ${kib} KiB, members one after the other (${where})`, 'gzip', repeated(gzipped, bytes), path)
      add(`zstd of runs, ${kib} KiB (${where})`, 'zstd', zstdOfRuns(Math.max(1, Math.floor(bytes / 4))), path)
      add(`zstd frames one after the other, ${kib} KiB (${where})`, 'zstd', repeated(zstdOfRuns(800), bytes), path)
      add(`gzip under the wrong name, ${kib} KiB (${where})`, 'br', repeated(gzipped, bytes), path)
      add(
        `noise, ${kib} KiB (${where})`,
        ['gzip', 'deflate', 'br', 'zstd'][Math.floor(rand() * 4)] ?? 'gzip',
        randomBytes(bytes),
        path,
      )
    }
    add(`deflate, 200 MiB of zeros (${where})`, 'deflate', deflated, path)
    add(`brotli, 100 MiB in ${brotli100.length} bytes (${where})`, 'br', brotli100, path)
    add(`brotli and much behind it (${where})`, 'br', Buffer.concat([brotli100, Buffer.alloc(10 * MIB)]), path)
    for (const log of [22, 23, 24, 27, 31, 41]) add(`zstd window of 2^${log} (${where})`, 'zstd', zstdWindow(log), path)
    for (const { layers, body } of nested) {
      add(`gzip in gzip, ${layers} layers, one named (${where})`, 'gzip', body, path)
      add(
        `gzip in gzip, ${layers} layers, all named (${where})`,
        Array<string>(layers).fill('gzip').join(', '),
        body,
        path,
      )
    }
    add(`gzip cut in the middle (${where})`, 'gzip', gzipped.subarray(0, gzipped.length >> 1), path)
    add(`a JSON of 30 MiB, packed (${where})`, 'gzip', packedJson, path)
    add(`a JSON of 30 MiB, brotli (${where})`, 'br', brotliJson, path)
    add(`20 MiB of opening brackets (${where})`, null, Buffer.alloc(WIRE_MIB * MIB - KIB, '['), path)
  }
  // Within the limit of decoding, but large.
  const attachment = (bytes: number): Buffer =>
    Buffer.concat([
      Buffer.from(`{}\n{"type":"attachment","length":${bytes},"filename":"x"}\n`),
      Buffer.alloc(bytes, 'ab'),
      Buffer.from('\n{"type":"event"}\n{"message":"beside it"}\n'),
    ])
  for (const mib of [1, 19, 21, 60, 99]) {
    // Stored blocks in between keep it under 100:1.
    const body = attachment(mib * MIB)
    for (let at = 0; at < body.length - 16 * KIB; at += 512 * KIB) randomBytes(8 * KIB).copy(body, at + 256)
    cases.push({
      name: `an attachment of ${mib} MiB, packed`,
      path: envelope,
      headers: { 'content-encoding': 'gzip' },
      body: zlib.gzipSync(body, { level: 1 }),
      lawful: true,
    })
  }
  add(
    '10^7 empty lines',
    'gzip',
    zlib.gzipSync(Buffer.concat([Buffer.from('{}\n'), Buffer.alloc(10 * MIB, '\n')]), { level: 1 }),
  )
  for (const items of [9_000, 11_000, 200_000])
    add(`${items} items`, 'gzip', zlib.gzipSync(Buffer.from(`{}\n${'{"type":"x"}\n{}\n'.repeat(items)}`)))
  add('a header line of 30 MiB', 'gzip', zlib.gzipSync(Buffer.from(`{"a":"${'x'.repeat(30 * MIB)}"}\n`), { level: 1 }))
  add(
    'an item header of 30 MiB',
    'gzip',
    zlib.gzipSync(Buffer.from(`{}\n{"type":"event","a":"${'x'.repeat(30 * MIB)}"}\n{}`), { level: 1 }),
  )
  add('base64 of zlib', null, Buffer.from(deflated.toString('base64')), store)
  add(
    'base64 of zlib in a form',
    null,
    Buffer.from(`sentry_data=${encodeURIComponent(deflated.toString('base64'))}`),
    store,
  )
  add('base64 of 4 MiB', null, Buffer.from(randomBytes(3 * MIB).toString('base64')), store)
  return [...cases, ...multipartCases(project, rand)]
}

/** Forms of crash reports and of later attachments. */
function multipartCases({ number, publicKey }: Target['project'], rand: () => number): Bomb[] {
  const cases: Bomb[] = []
  const boundary = `b${Math.floor(rand() * 1e9)}`
  const part = (headers: string, body: string): string => `--${boundary}\r\n${headers}\r\n\r\n${body}\r\n`
  const named = (name: string): string => `content-disposition: form-data; name="${name}"`
  const file = `${named('upload_file_minidump')}; filename="x.dmp"`
  const end = `--${boundary}--\r\n`
  const bodies: [string, string][] = [
    ['10^5 fields', part(named('a'), 'x').repeat(100_000) + end],
    ['10^4 files', part(file, 'MDMP').repeat(10_000) + end],
    ['a part header of 1 MiB', part(`${named('a')}\r\nx: ${'y'.repeat(MIB)}`, 'x') + end],
    ['10^5 part headers', part(`${named('a')}${'\r\nx: y'.repeat(100_000)}`, 'x') + end],
    ['a field of 5 MiB', part(named('sentry'), 'x'.repeat(5 * MIB)) + end],
    [
      'a file name of 1 MiB',
      part(`${named('upload_file_minidump')}; filename="${'../'.repeat(350_000)}"`, 'MDMP') + end,
    ],
    ['nothing but boundaries', `--${boundary}\r\n`.repeat(200_000)],
    ['almost a boundary, repeated', part(file, `\r\n--${boundary.slice(0, -1)}`.repeat(400_000)) + end],
    ['no end', part(file, 'MDMP').slice(0, -2)],
    ['a form in a form', `--${boundary}\r\ncontent-type: multipart/mixed; boundary=${boundary}\r\n\r\n`.repeat(20_000)],
    ['CR without end', '\r'.repeat(8 * MIB)],
  ]
  for (const [name, text] of bodies) {
    for (const path of [
      `/api/${number}/minidump/?sentry_key=${publicKey}`,
      `/api/${number}/events/${'ab'.repeat(16)}/attachments/?sentry_key=${publicKey}`,
    ]) {
      const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` }
      cases.push({ name: `a form of ${name} (${path.split('?', 1)[0]})`, path, headers, body: Buffer.from(text) })
      if (name === '10^5 fields')
        cases.push({
          name: `a packed form of ${name} (${path.split('?', 1)[0]})`,
          path,
          headers: { ...headers, 'content-encoding': 'gzip' },
          body: zlib.gzipSync(Buffer.from(text)),
        })
    }
  }
  const long = 'x'.repeat(70)
  for (const given of [
    '',
    '; boundary=',
    `; boundary="${long}${long}"`,
    '; boundary=\u00e4',
    '; boundary=a; boundary=b',
  ])
    cases.push({
      name: `a form with the type multipart/form-data${given.slice(0, 20)}`,
      path: `/api/${number}/minidump/?sentry_key=${publicKey}`,
      headers: { 'content-type': `multipart/form-data${given}` },
      body: Buffer.from(part(file, 'MDMP') + end),
    })
  return cases
}
