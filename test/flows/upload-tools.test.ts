import { describe, expect, test } from 'vitest'
import { createKey } from '#server/identity/api-keys/create-key.ts'
import { aPerson } from '#test/kit/members.ts'
import { insertProject } from '#test/kit/route-examples.ts'
import { readSamples, type Sample } from '#test/kit/samples.ts'
import { testServer } from '#test/kit/test-server.ts'

/**
 * Recorded calls of published upload tools, in their order: chunks, bundles, debug files, mappings, releases, deploys. They
 * address the organisation `acme` and the project `mobile`, which a fresh organisation gets for each folder.
 */

const t = await testServer({ env: { RATE_LIMIT_SCALE: '0' } })

const FOLDERS = ['cli-3.8.0', 'cli-3.8.0-small-chunks', 'cli-2.58.6', 'cli-2.58.6-legacy-accept', 'cli-ts-0.45.0']
/** Calls that the product does not have: a tool that gets 404 says so. */
const UNKNOWN =
  /\/monitors\/|\/issues\/|\/events\/|\/regions\/|\/environments\/|\/releases\/[^/]+\/assemble|per_page=25&sort|\/projects\/acme\/mobile\/releases\/$/

type Answer = { readonly sample: Sample; readonly status: number; readonly body: unknown }

async function replay(folder: string) {
  const owner = await aPerson(t.app)
  const projectId = await insertProject(t.app, owner)
  const { key } = await createKey(t.app, owner.actor, {
    name: 'CI',
    scopes: ['uploads:write', 'releases:read', 'releases:write', 'projects:read'],
  })
  const answers: Answer[] = []
  for (const sample of readSamples(/^\/api\/0\//)) {
    if (sample.name.split('/', 1)[0] !== folder) continue
    const named = (text: string): string =>
      text.replaceAll('/acme/', `/${owner.orgSlug}/`).replaceAll('/mobile/', `/${projectId}/`)
    const isJson = (sample.headers['Content-Type'] ?? sample.headers['content-type'] ?? '').startsWith(
      'application/json',
    )
    const body = isJson
      ? Buffer.from(sample.body.toString().replaceAll('"projects":["mobile"]', `"projects":["${projectId}"]`))
      : sample.body
    const { Authorization: _, authorization: __, ...headers } = sample.headers
    const response = await fetch(t.url + named(sample.url), {
      method: sample.method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    })
    const text = await response.text()
    answers.push({ sample, status: response.status, body: text === '' ? null : (JSON.parse(text) as unknown) })
  }
  const { rows } = await t.app.db.query<{
    kind: string
    debug_id: string | null
    release: string | null
    url: string | null
  }>('select kind, debug_id, release, url from symbol_files where project_id = $1 order by kind, debug_id, url', [
    projectId,
  ])
  return { answers, files: rows }
}

describe('recorded calls', () => {
  test.each(FOLDERS)('of %s are answered, and each file that was put together is stored', async (folder) => {
    const { answers, files } = await replay(folder)
    expect(answers.length).toBeGreaterThan(3)
    const refused = answers.filter(
      ({ sample, status }) => status >= 300 && !UNKNOWN.test(sample.url) && sample.method !== 'DELETE',
    )
    expect(refused.map(({ sample, status, body }) => [sample.name, sample.url, status, body])).toEqual([])
    const failed = answers.filter(({ body }) => JSON.stringify(body).includes('"state":"error"'))
    expect(failed.map(({ sample, body }) => [sample.name, body])).toEqual([])
    expect(files.length).toBeGreaterThan(0)
  })

  test('of sentry-cli 3 store source maps by debug id and by release, debug files and mappings', async () => {
    const { files } = await replay('cli-3.8.0')
    expect(new Set(files.map(({ kind }) => kind))).toEqual(
      new Set(['js_source_map', 'macho', 'elf', 'proguard', 'dart_symbol_map']),
    )
    expect(files.map(({ debug_id: id }) => id)).toEqual(
      expect.arrayContaining([
        '4c4c44ac-5555-3144-a154-d2d28fc21b39',
        '62b290d9-67a1-49aa-fa42-91caf18135a0',
        'bcc0ed9d-5b8f-5d9e-8f08-35edec4a0f10',
      ]),
    )
    expect(files).toEqual(
      expect.arrayContaining([expect.objectContaining({ kind: 'js_source_map', release: 'mobile@1.4.0+77' })]),
    )
  })
})
