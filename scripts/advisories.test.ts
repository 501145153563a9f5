import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { advisoryProblems, askRegistry } from './advisories.ts'

/** A checkout with one locked package, `left` 1.0.0, and a registry of its own. */
async function ask(answer: RequestListener, timeoutMs = 60_000): ReturnType<typeof askRegistry> {
  const folder = mkdtempSync(join(tmpdir(), 'faultline-advisories-'))
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    rmSync(folder, { recursive: true })
    server.closeAllConnections()
    server.close()
  })
  const manifest = { name: 'ours', version: '1.0.0', dependencies: { left: '1.0.0' } }
  const packages = { '': manifest, 'node_modules/left': { version: '1.0.0', integrity: `sha512-${'A'.repeat(86)}==` } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(
    join(folder, 'package-lock.json'),
    JSON.stringify({ name: 'ours', version: '1.0.0', lockfileVersion: 3, requires: true, packages }),
  )
  return askRegistry(folder, {
    timeoutMs,
    env: {
      npm_config_registry: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      npm_config_cache: join(folder, 'cache'),
      npm_config_proxy: '',
      npm_config_noproxy: '127.0.0.1',
    },
  })
}

const advisory = {
  id: 1,
  url: 'https://advisories.example.com/GHSA-aaaa-bbbb-cccc',
  title: 'Left turns right',
  severity: 'low',
  vulnerable_versions: '<1.0.1',
  cwe: [],
  cvss: { score: 1, vectorString: null },
}

test('an advisory for a locked package is found', async () => {
  const answer = await ask((request, response) => {
    response.setHeader('content-type', 'application/json')
    if (request.url?.endsWith('/advisories/bulk') === true) response.end(JSON.stringify({ left: [advisory] }))
    else response.writeHead(404).end('{}')
  })
  expect(answer).toEqual({
    found: [
      {
        id: 'GHSA-aaaa-bbbb-cccc',
        package: 'left',
        text: `left <1.0.1: Left turns right (low, ${advisory.url})`,
      },
    ],
  })
})

test('no advisory is an answer', async () => {
  const answer = await ask((_request, response) => response.setHeader('content-type', 'application/json').end('{}'))
  expect(answer).toEqual({ found: [] })
})

test.each([
  ['refuses', 405, 'status 405'],
  ['fails', 503, 'status 503'],
])('a registry that %s gives no answer', async (_what, status, noAnswer) => {
  expect(await ask((_request, response) => response.writeHead(status).end())).toEqual({ noAnswer })
})

test('a registry that hangs up or says nothing in time gives no answer', async () => {
  expect(await ask((request) => request.socket.destroy())).toHaveProperty('noAnswer')
  expect(await ask(() => {}, 200)).toEqual({ noAnswer: 'nothing within 0.2 s' })
})

const found = [{ id: 'GHSA-1', package: 'left', text: 'left <1.0.1: Left turns right' }]
const accepted = { id: 'GHSA-1', package: 'left', why: 'We only turn right.', until: '2027-01-31' }

test('an advisory that is not accepted is a problem', () => {
  expect(advisoryProblems(found, [], '2026-11-23')).toEqual(['left <1.0.1: Left turns right'])
  expect(advisoryProblems(found, [accepted], '2026-11-23')).toEqual([])
  expect(advisoryProblems(found, [{ ...accepted, package: 'right' }], '2026-11-23')).toHaveLength(2)
})

test('an acceptance ends at its day, is for half a year at most, and goes with its advisory', () => {
  expect(advisoryProblems(found, [accepted], '2027-01-31')).toEqual([
    expect.stringContaining('accepted until 2027-01-31'),
  ])
  expect(advisoryProblems(found, [{ ...accepted, until: '2027-06-30' }], '2026-11-23')).toEqual([
    expect.stringContaining('more than half a year'),
  ])
  expect(advisoryProblems([], [accepted], '2026-11-23')).toEqual([expect.stringContaining('remove its line')])
})
