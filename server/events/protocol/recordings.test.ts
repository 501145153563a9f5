import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readEdgeCases, readIntakeSamples, type Sample } from '#test/kit/samples.ts'
import { fingerprint } from '../../issues/grouping/grouping.ts'
import { isAnr, isNativeCrash } from './anr.ts'
import { contentEncodingFrom, decodeBodySync } from './decode.ts'
import { decodeStoreBody } from './decode-store.ts'
import { decisive } from './decisive.fixture.ts'
import { parseEnvelope, itemPayload } from './envelope.ts'
import { Event } from './event.api.ts'
import { parseGuarded } from './json-guard.ts'
import { isRecord } from './json.ts'
import { namingException, topFrame } from './labels.ts'
import { normalizeEvent } from './normalize.ts'
import { scrubEvent } from './scrub.ts'

/**
 * Every recorded event, compared with expectations that were written from the payloads, not from results of the code:
 * where they differ, the code is probably wrong.
 */

const RECEIVED = new Date('2026-11-20T05:00:00.000Z')
const CLIENT = '198.51.100.20'

const Expectation = z.strictObject({
  title: z.string(),
  culprit: z.string(),
  level: z.string(),
  platform: z.string(),
  release: z.string().nullable(),
  environment: z.string(),
  dist: z.string().nullable(),
  unhandled: z.boolean(),
  anr: z.boolean().default(false),
  nativeCrash: z.boolean().default(false),
  /** Frames of each exception, oldest cause first. */
  frames: z.array(z.number()),
  /** Function, as sent, of the innermost in-app frame of the leading stack. */
  top: z.string().nullable(),
  topPackage: z.string().optional(),
  threads: z.number().default(0),
  images: z.number().optional(),
  crumbs: z.number(),
  lastCrumb: z.string().nullable(),
  tags: z.record(z.string(), z.string()),
  /** `CLIENT` means the address of the connection. */
  user: z.record(z.string(), z.string()).nullable(),
  /** Events with equal names are one issue. */
  issue: z.string(),
  /** As in the payload. */
  timestamp: z.union([z.string(), z.number()]).nullable(),
  /** Text that scrubbing must remove; without any, the payload contains no secrets. */
  secrets: z.array(z.string()).default([]),
})

const expectations = z
  .record(z.string(), Expectation)
  .parse(
    JSON.parse(readFileSync(new URL('../../../test/fixtures/protocol/expectations.json', import.meta.url), 'utf8')),
  )

const header = (sample: Sample, name: string): string | undefined =>
  Object.entries(sample.headers).find(([key]) => key.toLowerCase() === name)?.[1]

/** The parsed event of a recording; null without one. */
function rawEventOf(sample: Sample): Record<string, unknown> | null {
  const encoding = contentEncodingFrom(header(sample, 'content-encoding'))
  if (sample.url.includes('/store/')) {
    const { value } = parseGuarded(decodeStoreBody(sample.body, encoding).json)
    return isRecord(value) ? value : null
  }
  const decoded = decodeBodySync(sample.body, encoding)
  const item = parseEnvelope(decoded).items.find((one) => one.type === 'event' && !one.surplus)
  if (item === undefined) return null
  const { value } = parseGuarded(itemPayload(decoded, item))
  return isRecord(value) ? value : null
}

function normalised(raw: Record<string, unknown>, onlyDecisive = false): Event {
  return normalizeEvent(raw, {
    eventId: '9ec79c33ec9942ab8353589fcb2e04dc',
    receivedAt: RECEIVED,
    sentAt: null,
    clientIp: CLIENT,
    userAgent: null,
    onlyDecisive,
  })
}

const samples = readIntakeSamples()
const withEvent = samples.flatMap((sample) => {
  const raw = rawEventOf(sample)
  return raw === null ? [] : [{ name: sample.name, raw }]
})

test('the recordings are complete, and each event has an expectation', () => {
  expect(samples).toHaveLength(144)
  expect(withEvent.map(({ name }) => name).toSorted()).toEqual(Object.keys(expectations).toSorted())
})

describe.each(withEvent)('$name', ({ name, raw }) => {
  const expected = Expectation.parse(expectations[name])
  const before = JSON.stringify(raw)
  const changed = scrubEvent(raw)
  const event = normalised(raw)

  test('has the same result with onlyDecisive', () => {
    const brief = normalised(raw, true)
    expect(brief).toEqual(decisive(event))
    expect(fingerprint(brief)).toEqual(fingerprint(event))
  })

  test('has the expected fields', () => {
    const naming = namingException(event.exceptions)
    const stack = naming?.stacktrace ?? event.exceptions.at(-1)?.stacktrace ?? currentStack(event)
    const top = stack === null ? null : topFrame(stack, event.platform)
    const crumb = event.breadcrumbs.at(-1)
    expect({
      title: event.title,
      culprit: event.culprit,
      level: event.level,
      platform: event.platform,
      release: event.release,
      environment: event.environment,
      dist: event.dist,
      unhandled: event.is_unhandled,
      anr: isAnr(event),
      nativeCrash: isNativeCrash(event),
      frames: event.exceptions.map(({ stacktrace }) => stacktrace?.frames.length ?? 0),
      top: top?.function ?? null,
      threads: event.threads.length,
      crumbs: event.breadcrumbs.length,
      lastCrumb: crumb?.message ?? null,
      tags: Object.fromEntries(event.tags.map(({ key, value }) => [key, value])),
      user: present(event.user),
    }).toEqual({
      title: expected.title,
      culprit: expected.culprit,
      level: expected.level,
      platform: expected.platform,
      release: expected.release,
      environment: expected.environment,
      dist: expected.dist,
      unhandled: expected.unhandled,
      anr: expected.anr,
      nativeCrash: expected.nativeCrash,
      frames: expected.frames,
      top: expected.top,
      threads: expected.threads,
      crumbs: expected.crumbs,
      lastCrumb: expected.lastCrumb,
      tags: expected.tags,
      user: expected.user === null ? null : withClient(expected.user),
    })
    if (expected.topPackage !== undefined) expect(top?.package).toBe(expected.topPackage)
    if (expected.images !== undefined) expect(event.debug_images).toHaveLength(expected.images)
    expect(event.errors).toEqual([])
  })

  test('has the time that its client sent', () => {
    const { timestamp } = expected
    const at =
      timestamp === null
        ? RECEIVED.getTime()
        : typeof timestamp === 'number'
          ? Math.round(timestamp * 1000)
          : Date.parse(timestamp.endsWith('Z') ? timestamp : `${timestamp}Z`)
    expect(event.occurred_at).toBe(new Date(at).toISOString())
  })

  test('contains no secret', () => {
    expect(changed).toBe(expected.secrets.length > 0)
    const stored = JSON.stringify(raw)
    for (const secret of expected.secrets) {
      expect(before).toContain(secret)
      expect(stored).not.toContain(secret)
    }
  })

  test('is an event of the schema, the same when read again', () => {
    expect(Event.parse(event)).toEqual(event)
    expect(normalised(raw)).toEqual(event)
  })
})

test('only recordings of the same error share an issue', () => {
  const hashes = new Map<string, Set<string>>()
  for (const { name, raw } of withEvent) {
    const hash = fingerprint(normalised(raw)).hash.toString('hex')
    const issue = expectations[name]?.issue ?? ''
    hashes.set(issue, (hashes.get(issue) ?? new Set()).add(hash))
  }
  for (const [issue, found] of hashes) expect({ issue, hashes: found.size }).toEqual({ issue, hashes: 1 })
  expect(new Set([...hashes.values()].flatMap((found) => [...found])).size).toBe(hashes.size)
})

test('every event of the edge cases is normalised without notes', () => {
  const events = readEdgeCases().flatMap((one) => {
    if (one.expect.status !== 200) return []
    const contentEncoding = Object.entries(one.headers).find(([key]) => key.toLowerCase() === 'content-encoding')?.[1]
    const raw = rawEventOf({
      ...one,
      name: one.file,
      method: 'POST',
      headers: { 'content-encoding': contentEncoding ?? '' },
      answeredId: null,
    })
    return raw === null ? [] : [{ file: one.file, event: normalised(raw) }]
  })
  expect(events.length).toBeGreaterThan(10)
  for (const { file, event } of events) {
    expect({ file, event: Event.safeParse(event).success, errors: event.errors }).toEqual({
      file,
      event: true,
      errors: [],
    })
  }
  const of = (part: string): Event => events.find(({ file }) => file.includes(part))!.event
  expect(of('21-lists-without-values')).toMatchObject({
    title: 'E: flat list',
    message: 'm',
    tags: [
      { key: 'a', value: '1' },
      { key: 'b', value: '2' },
      { key: 'c', value: 'True' },
    ],
    breadcrumbs: [{ message: 'b', timestamp: '2026-11-20T04:00:00.000Z' }],
    threads: [{ id: '1' }],
  })
  expect(of('22-exception-plain-object').title).toBe('E: object, not list')
  expect(of('23-timestamp-ms-and-naive').occurred_at).toBe('2026-11-20T04:00:00.500Z')
  expect(of('38-store-base64-zlib')).toMatchObject({ title: 'very old client', platform: 'php' })
})

function currentStack(event: Event) {
  const thread = event.threads.find(({ crashed }) => crashed) ?? event.threads.find(({ current }) => current)
  return thread?.stacktrace ?? null
}

function present(user: Event['user']): Record<string, unknown> | null {
  return user === null ? null : Object.fromEntries(Object.entries(user).filter(([, value]) => value !== null))
}

function withClient(user: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(user).map(([key, value]) => [key, value === 'CLIENT' ? CLIENT : value]))
}
