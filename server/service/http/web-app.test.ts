import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib'
import Fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { registerWebApp } from './server.ts'

const scratch = mkdtempSync(join(tmpdir(), 'faultline-dist-'))
// An installation may be below a folder of that name.
const dist = `${join(scratch, 'assets', 'dist')}/`
mkdirSync(join(dist, 'assets'), { recursive: true })
const fastify = Fastify()
await registerWebApp(fastify, dist)
afterAll(async () => {
  await fastify.close()
  rmSync(scratch, { recursive: true, force: true })
})
const get = (url: string) => fastify.inject({ method: 'GET', url })

test('without a build every page says how to build', async () => {
  expect(await get('/issues')).toMatchObject({
    statusCode: 503,
    body: expect.stringContaining('npm run build') as string,
  })
})

test('a running service serves a new build immediately', async () => {
  writeFileSync(join(dist, 'index.html'), '<script nonce="__CSP_NONCE__" src="/assets/app-1.js"></script>')
  writeFileSync(join(dist, 'assets', 'app-1.js'), 'run()')
  writeFileSync(join(dist, 'theme.js'), 'theme()')

  for (const path of ['/', '/issues', '/issues/1?tab=x', '/index.html']) {
    const page = path === '/index.html' ? await get((await get(path)).headers.location ?? '') : await get(path)
    expect(page.statusCode, path).toBe(200)
    const nonce = /nonce="([^"]+)"/.exec(page.body)?.[1] ?? ''
    expect(nonce).not.toBe('__CSP_NONCE__')
    expect(page.headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
    expect(page.headers['content-security-policy']).not.toContain('unsafe')
    expect(page.headers['cache-control']).toBe('no-cache')
  }
  expect((await get('/')).body).not.toBe((await get('/')).body)
  expect((await get('/assets/app-1.js')).headers['cache-control']).toBe('public, max-age=31536000, immutable')
  expect((await get('/theme.js')).headers['cache-control']).toBe('no-cache')
  writeFileSync(join(dist, '.built-from'), 'a note of the build to itself')
  expect((await get('/.built-from')).body).not.toContain('a note')
})

test('files are sent compressed to clients that accept it, and only under their own names', async () => {
  writeFileSync(join(dist, 'assets', 'app-3.js'), 'run(3)')
  writeFileSync(join(dist, 'assets', 'app-3.js.br'), brotliCompressSync('run(3)'))
  writeFileSync(join(dist, 'assets', 'app-3.js.gz'), gzipSync('run(3)'))
  const as = (coding: string) =>
    fastify.inject({ method: 'GET', url: '/assets/app-3.js', headers: { 'accept-encoding': coding } })

  const small = await as('gzip, deflate, br')
  expect(brotliDecompressSync(small.rawPayload).toString()).toBe('run(3)')
  expect(small.headers).toMatchObject({
    'content-encoding': 'br',
    'content-type': expect.stringContaining('javascript') as string,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: expect.stringMatching(/accept-encoding/i) as string,
  })
  expect(gunzipSync((await as('gzip')).rawPayload).toString()).toBe('run(3)')
  const plain = await as('identity')
  expect(plain.body).toBe('run(3)')
  expect(plain.headers['content-encoding']).toBeUndefined()
})

test.each([
  '/assets/app-2.js',
  '/favicon.ico',
  '/../../package.json',
  '/%2e%2e/package.json',
  '/assets/..%2f..%2fpackage.json',
])('%s is neither a page nor a file', async (path) => {
  const answer = await get(path)
  expect([400, 403, 404]).toContain(answer.statusCode)
  expect(answer.body).not.toContain('"name"')
})
