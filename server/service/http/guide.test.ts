import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, expect, test } from 'vitest'
import { guideFiles } from '../../../scripts/guide/build.ts'
import { registerGuide } from './guide.ts'
import { registerWebApp } from './server.ts'

const scratch = mkdtempSync(join(tmpdir(), 'faultline-guide-'))
const dist = `${scratch}/`
mkdirSync(`${dist}docs/guide`, { recursive: true })
writeFileSync(`${dist}index.html`, 'the dashboard')
for (const [name, text] of Object.entries(guideFiles({ css: '/a.css', js: '/a.js' })))
  writeFileSync(`${dist}docs/guide/${name}`, text)

const fastify = Fastify()
await registerWebApp(fastify, dist)
let counted = 0
registerGuide(fastify, dist, async () => {
  counted++
})
afterAll(async () => {
  await fastify.close()
  rmSync(scratch, { recursive: true, force: true })
})
const get = (url: string) => fastify.inject({ url })

test('pages are served without a session, under a policy without inline scripts', async () => {
  for (const url of ['/docs/guide', '/docs/guide/install', '/docs/guide?q=backup']) {
    const answer = await get(url)
    expect([url, answer.statusCode]).toEqual([url, 200])
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'; script-src 'self'")
    expect(answer.headers['cache-control']).toBe('no-cache')
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8')
  }
  // The limit of the address.
  expect(counted).toBe(3)
})

test('other names are no pages', async () => {
  for (const name of ['nothing', 'install.html', 'sections.json', 'constructor', 'a/b'])
    expect([name, (await get(`/docs/guide/${name}`)).statusCode]).toEqual([name, 404])
})

test('the entrance has one address', async () => {
  expect(await get('/docs/guide/')).toMatchObject({ statusCode: 301, headers: { location: '/docs/guide' } })
})

test('what was typed is text on the page of results', async () => {
  const { body } = await get(`/docs/guide?q=${encodeURIComponent('"><script>x</script> $& backup')}`)
  expect(body).toContain('value="&quot;&gt;&lt;script&gt;x&lt;/script&gt; $&amp; backup"')
  expect(body).not.toContain('<script>x')
  expect((await get('/docs/guide?q=backup&q=restore')).statusCode).toBe(200)
  expect((await get(`/docs/guide?q=${'long '.repeat(2_000)}`)).statusCode).toBe(200)
  expect((await get('/docs/guide?q=restore+drill')).body).toContain(
    '<a href="/docs/guide/backup#restore-drill">Backups: Restore drill</a>',
  )
})
