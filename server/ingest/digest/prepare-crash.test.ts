import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { random } from '#bench/payloads.ts'
import { readSamples } from '#test/kit/samples.ts'
import { newEventId } from '#test/kit/sdk.ts'
import { writeEnvelope, type NewItem } from '../../events/protocol/envelope.ts'
import { spoolEntry } from '../spool/entry.fixture.ts'
import type { SpoolEntry } from '../spool/entry.ts'
import { prepareEntry } from './prepare-entry.ts'
import { someProject } from './project-facts.fixture.ts'

const project = someProject()

const dump = gunzipSync(readSamples(/minidump/).at(-1)?.body ?? Buffer.alloc(0))

const entryOf = (items: readonly NewItem[]): SpoolEntry =>
  spoolEntry({
    projectId: project.projectId,
    receivedAtMs: Date.parse('2026-11-20T05:00:00Z'),
    eventId: newEventId(),
    body: writeEnvelope({}, items),
  })

const minidump = (payload: Buffer): NewItem => ({
  type: 'attachment',
  headers: { attachment_type: 'event.minidump', filename: 'x.dmp' },
  payload,
})

test('every item of a damaged crash report ends in one outcome, with at most one event', async () => {
  const rand = random(17)
  const pick = (max: number): number => Math.floor(rand() * max)
  const small = Buffer.concat([dump.subarray(0, 8_192), dump.subarray(dump.length - 8_192)])
  const damaged = (bytes: Buffer): Buffer => {
    const copy = Buffer.from(bytes.subarray(0, pick(4) === 0 ? pick(bytes.length) : bytes.length))
    for (let edits = pick(10); edits > 0 && copy.length > 0; edits--) copy[pick(copy.length)] = pick(256)
    return copy
  }
  const parts: readonly (() => NewItem)[] = [
    () => minidump(damaged(small)),
    () => ({
      type: 'form_data',
      payload: damaged(Buffer.from('[["sentry","{\\"release\\":\\"a@1\\"}"],["guid","g"]]')),
    }),
    () => ({ type: 'event', payload: damaged(Buffer.from('{"release":"e@1","exception":{"values":[]}}')) }),
    () => ({
      type: 'attachment',
      headers: { filename: '__sentry-event' },
      payload: damaged(Buffer.from('{"user":{"id":1}}')),
    }),
    () => ({
      type: 'attachment',
      headers: { filename: '__sentry-breadcrumb1' },
      payload: damaged(Buffer.from('81a161c0', 'hex')),
    }),
    () => ({ type: 'attachment', payload: damaged(Buffer.from('log')) }),
  ]
  for (let round = 0; round < 500; round++) {
    const items = Array.from({ length: 1 + pick(5) }, () => parts[pick(parts.length)]?.() ?? minidump(small))
    const prepared = await prepareEntry(entryOf(items), project)
    expect(prepared.reduce((sum, { quantity }) => sum + quantity, 0)).toBe(items.length)
    expect(prepared.filter((one) => 'kind' in one && one.kind === 'event').length).toBeLessThanOrEqual(1)
  }
})

test('an event above the size limit keeps the data of its minidump', async () => {
  const extra = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`key${index}`, 'x'.repeat(10_400)]))
  const event = JSON.stringify({ release: 'game@1', extra })
  const [one] = await prepareEntry(entryOf([{ type: 'event', payload: event }, minidump(dump)]), project)
  if (one === undefined || !('kind' in one) || one.kind !== 'event') throw new Error('no event')
  expect(one.fact).toMatchObject({ errorType: 'SIGSEGV', event: { release: 'game@1' } })
})

test('files and feedback beside an event of an erased user are discarded', async () => {
  const items: NewItem[] = [
    { type: 'attachment', payload: 'log' },
    { type: 'user_report', payload: '{"comments":"x"}' },
    { type: 'event', payload: '{"user":{"id":"ada"}}' },
  ]
  const whole = await prepareEntry(entryOf(items), project)
  const event = whole.find((one) => 'kind' in one && one.kind === 'event')
  if (event === undefined || !('kind' in event) || event.kind !== 'event') throw new Error('no event')
  const hash = event.fact.event.userHash ?? 0
  const erased = await prepareEntry(entryOf(items), {
    ...project,
    erasures: new Map([[hash, Number.MAX_SAFE_INTEGER]]),
  })
  expect(erased).toEqual([
    { category: 'attachment', quantity: 1, outcome: 'discarded', reason: 'erased' },
    { category: 'feedback', quantity: 1, outcome: 'discarded', reason: 'erased' },
    { category: 'error', quantity: 1, outcome: 'discarded', reason: 'erased' },
  ])
})
