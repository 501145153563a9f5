import { describe, expect, test } from 'vitest'
import { aFounder, aProject } from '../kit/founder.ts'
import { readSamples } from '../kit/samples.ts'
import { testServer } from '../kit/test-server.ts'
import { complaints, outcomesOf } from './outcomes.ts'
import { noteRun, writeTableWhenAsked } from './table.ts'

/** Sends every recorded request to an ingestion endpoint, by SDK, for the table of accepted items. */

const server = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })
server.clock.set('2026-11-20T05:00:00.000Z')
server.onClose(writeTableWhenAsked)

const folders = Map.groupBy(readSamples(/^\/api\/4501\//), ({ name }) => name.split('/', 1)[0] ?? '')

describe('recordings', () => {
  test.each([...folders])('%s', async (folder, samples) => {
    const person = await aFounder(server.url)
    const project = await aProject(person)
    const key = new URL(project.dsn).username
    for (const sample of samples) {
      const swapped = (text: string): string =>
        text.replaceAll('0123456789abcdef0123456789abcdef', key).replaceAll('/4501', `/${project.number}`)
      const body =
        sample.headers['content-encoding'] === undefined && sample.headers['Content-Encoding'] === undefined
          ? Buffer.from(swapped(sample.body.toString('latin1')), 'latin1')
          : sample.body
      const response = await fetch(server.url + swapped(sample.url), {
        method: sample.method,
        headers: Object.fromEntries(Object.entries(sample.headers).map(([name, value]) => [name, swapped(value)])),
        ...(sample.method === 'GET' ? {} : { body: new Uint8Array(body) }),
      })
      expect(response.status, `${sample.name}: ${await response.text()}`).toBeLessThan(300)
    }
    await server.service.drain()
    const outcomes = await outcomesOf(server.app, project.number)
    expect(complaints(outcomes)).toEqual([])
    noteRun('recorded', folder, outcomes)
  })
})
