import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib'
import { z } from 'zod'
import { readIntakeSamples, type Sample } from '#test/kit/samples.ts'
import { type BenchEvent, benchEvent, type Coding } from './payloads.ts'

/** The error events of all recorded SDKs, each as a separate issue. Times, users and releases vary as in generated events. */
export function recordedEvents(coding: Coding): BenchEvent[] {
  const found = readIntakeSamples().flatMap(errorsOf)
  return found.map((event, issue) => {
    for (const member of ['event_id', 'timestamp', 'release', 'user']) delete event[member]
    return benchEvent(issue, event, coding)
  })
}

const Item = z.object({ type: z.string(), length: z.number().optional() })
const Event = z.record(z.string(), z.unknown())

function errorsOf({ url, headers, body }: Sample): Record<string, unknown>[] {
  const decoded = decode(body, headers['content-encoding'] ?? headers['Content-Encoding'])
  if (!url.includes('/envelope/')) return eventsIn([decoded])
  const payloads: Buffer[] = []
  let at = lineEnd(decoded, 0) + 1
  while (at < decoded.length) {
    const end = lineEnd(decoded, at)
    const header = Item.safeParse(parsed(decoded.subarray(at, end)))
    if (!header.success) break
    const { type, length } = header.data
    const payloadEnd = length === undefined ? lineEnd(decoded, end + 1) : end + 1 + length
    if (type === 'event') payloads.push(decoded.subarray(end + 1, payloadEnd))
    at = payloadEnd + 1
  }
  return eventsIn(payloads)
}

const eventsIn = (payloads: readonly Buffer[]): Record<string, unknown>[] =>
  payloads.map(parsed).flatMap((value) => {
    const event = Event.safeParse(value)
    return event.success ? [event.data] : []
  })

function lineEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf('\n', from)
  return at < 0 ? bytes.length : at
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}

function decode(body: Buffer, encoding: string | undefined): Buffer {
  if (encoding === 'gzip') return gunzipSync(body)
  if (encoding === 'deflate') return inflateSync(body)
  if (encoding === 'br') return brotliDecompressSync(body)
  return encoding === 'zstd' ? zstdDecompressSync(body) : body
}
