import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { readIntakeSamples, type Sample } from '#test/kit/samples.ts'
import { contentEncodingFrom, decodeBodySync } from '../../events/protocol/decode.ts'
import { parseEnvelope, itemPayload } from '../../events/protocol/envelope.ts'
import type { Event } from '../../events/protocol/event.api.ts'
import { isRecord } from '../../events/protocol/json.ts'
import { parseGuarded } from '../../events/protocol/json-guard.ts'
import { eventOf } from './event.fixture.ts'
import { fingerprint } from './grouping.ts'
import { groupingVersions } from './registry.ts'

/**
 * Pairs of events with a human decision whether they are one problem, and why. The decisions were made before the code
 * ran: where they differ, the code is wrong, or the reason says what it cannot know. Every version keeps the pairs of the
 * versions before it.
 */

const FOLDER = new URL('../../../test/fixtures/grouping/', import.meta.url)

/** Files of pairs that earlier versions decide in another way. */
const SINCE: Readonly<Record<string, number>> = {
  'crashes-without-symbols.json': 3,
  'libraries-and-made-names.json': 3,
}

const Side = z.union([
  z.strictObject({ event: z.record(z.string(), z.unknown()) }),
  z.strictObject({ recording: z.string() }),
])
const Pair = z.strictObject({ name: z.string(), same: z.boolean(), reason: z.string().min(10), a: Side, b: Side })

const pairs = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.json'))
  .flatMap((file) =>
    z
      .array(Pair)
      .parse(JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')))
      .map((pair) => ({ ...pair, name: `${file.replace('.json', '')}: ${pair.name}`, since: SINCE[file] ?? 2 })),
  )
const versions = [...groupingVersions.keys()]
const decided = versions.flatMap((version) =>
  pairs.filter(({ since }) => since <= version).map((pair) => ({ ...pair, version })),
)

const recordings = new Map(readIntakeSamples().map((sample) => [sample.name, sample]))

function recorded(sample: Sample | undefined): Record<string, unknown> {
  if (sample === undefined) throw new Error('no such recording')
  const encoding = Object.entries(sample.headers).find(([key]) => key.toLowerCase() === 'content-encoding')?.[1]
  const decoded = decodeBodySync(sample.body, contentEncodingFrom(encoding))
  const item = parseEnvelope(decoded).items.find((one) => one.type === 'event')
  const value = item === undefined ? null : parseGuarded(itemPayload(decoded, item)).value
  if (!isRecord(value)) throw new Error('a recording without event')
  return value
}

const sideOf = (side: z.output<typeof Side>): Event =>
  eventOf('event' in side ? side.event : recorded(recordings.get(side.recording)))

test('there are at least sixty pairs of both kinds with different names', () => {
  expect(pairs.length).toBeGreaterThanOrEqual(60)
  expect(new Set(pairs.map(({ name }) => name)).size).toBe(pairs.length)
  expect(pairs.filter(({ same }) => same).length).toBeGreaterThan(20)
  expect(pairs.filter(({ same }) => !same).length).toBeGreaterThan(20)
})

test.each(decided)('version $version, $name: same is $same', ({ version, same, reason, a, b }) => {
  const [one, other] = [fingerprint(sideOf(a), { version }), fingerprint(sideOf(b), { version })]
  expect(one.hash.equals(other.hash), `${reason}\n${JSON.stringify([one.parts, other.parts], null, 1)}`).toBe(same)
})
