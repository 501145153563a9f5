import { readFileSync, readdirSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { readEdgeCases, readIntakeSamples } from '#test/kit/samples.ts'
import { makeEvents, STANDARD_SHAPE } from '#bench/payloads.ts'
import { contentEncodingFrom } from '../../events/protocol/decode.ts'
import { createTraceShares } from '../../telemetry/traces/trace-share.ts'
import { spoolEntry } from '../spool/entry.fixture.ts'
import { prepareEntry } from './prepare-entry.ts'
import { forgetRepeated, type ProjectFacts } from './project-facts.ts'
import { someProject } from './project-facts.fixture.ts'

/**
 * Events are prepared alike whether their parts are left out or not (events/protocol/leave-out.ts). A project with critical
 * paths parses the whole event; these match nothing.
 */
const project = { ...someProject(), discarded: new Set<string>() }
/** Without what the events before left behind. */
const fresh = (facts: ProjectFacts): ProjectFacts => ({
  ...facts,
  scrubbing: {},
  traces: createTraceShares(() => 0).of(''),
})

const EVENT_ID = '9ec79c33ec9942ab8353589fcb2e04dc'
const FIXTURES = new URL('../../../test/fixtures/', import.meta.url)

type Request = Pick<Parameters<typeof spoolEntry>[0], 'body' | 'encoding' | 'endpoint'>

const recorded = (): Request[] =>
  [...readIntakeSamples(), ...readEdgeCases()].map(({ url, headers, body }) => ({
    body,
    encoding: contentEncodingFrom(headers['content-encoding'] ?? headers['Content-Encoding']),
    endpoint: url.includes('/store/') ? 'store' : 'envelope',
  }))

const envelope = (event: string): Request => ({
  body: gzipSync(`{"event_id":"${EVENT_ID}"}\n{"type":"event"}\n${event.replaceAll('\n', ' ')}`),
  encoding: 'gzip',
})

/** The events in files of fixtures. */
function* eventsOf(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return
  if ('platform' in value || 'exception' in value) yield JSON.stringify(value)
  else for (const one of Object.values(value)) yield* eventsOf(one)
}
const fixtures = (): Request[] =>
  ['crashes', 'grouping']
    .flatMap((folder) =>
      readdirSync(new URL(`${folder}/`, FIXTURES), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.json'))
        .flatMap((file) => [...eventsOf(JSON.parse(readFileSync(new URL(`${folder}/${file}`, FIXTURES), 'utf8')))]),
    )
    .map(envelope)

const madeUp = (): Request[] =>
  [3_000, 20_000].flatMap((sizeBytes) =>
    makeEvents({ ...STANDARD_SHAPE, issues: 30, variantsPerIssue: 1, sizeBytes }).map(({ json }) =>
      envelope(json.toString()),
    ),
  )

async function prepared(request: Request, facts: ProjectFacts): Promise<unknown> {
  // The newest values of an issue, which are not repeated.
  forgetRepeated()
  try {
    return await prepareEntry(
      spoolEntry({
        ...request,
        receivedAtMs: Date.parse('2026-11-20T05:00:00Z'),
        eventId: EVENT_ID,
        clientIp: '203.0.113.7',
      }),
      fresh(facts),
    )
  } catch (error) {
    return error
  }
}

test.each([
  ['recorded requests and edge cases', recorded],
  ['events of fixtures', fixtures],
  ['made-up events', madeUp],
])('%s are prepared alike', async (_, requests) => {
  const all = requests()
  expect(all.length).toBeGreaterThan(50)
  for (const request of all)
    expect(await prepared(request, project)).toEqual(await prepared(request, { ...project, journeys: () => [] }))
})
