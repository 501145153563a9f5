import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createKey } from '#server/identity/api-keys/create-key.ts'
import { EXAMPLES } from '#test/kit/route-examples.ts'
import { aPerson } from '#test/kit/members.ts'
import { testServer } from '#test/kit/test-server.ts'

const t = await testServer({ realTime: true })
const run = promisify(execFile)

/** Each example of the pages with the scope that its sentence names; "any key" needs none. */
const examples = ['docs/api-keys.md', 'docs/api.md']
  .flatMap((page) => [
    ...readFileSync(new URL(`../${page}`, import.meta.url), 'utf8').matchAll(
      /^(?<sentence>[^\n]+):\n\n```sh\n(?<script>curl.+?)```/gms,
    ),
  ])
  .map(({ groups = {} }) => ({
    name: groups['sentence'] ?? '',
    scope: /\(`([a-z]+:[a-z]+)`/.exec(groups['sentence'] ?? '')?.[1] ?? null,
    script: groups['script'] ?? '',
  }))

test('the pages have their examples', () => {
  expect(examples.map(({ scope }) => scope)).toEqual([
    null,
    'issues:read',
    'releases:write',
    'team:write',
    'projects:read',
    'issues:read',
  ])
})

test.each(examples)('$name', async ({ scope, script }) => {
  const [owner, stranger] = [await aPerson(t.app), await aPerson(t.app)]
  const { params } = await EXAMPLES.rotateDsn(t.app, owner, stranger)
  const runWith = async (scopes: string[]) => {
    const { key } = await createKey(t.app, owner.actor, { name: 'docs', scopes })
    const env = { PATH: process.env['PATH'], FAULTLINE: t.url, KEY: key, PROJECT: params?.['projectId'] }
    return run('bash', ['-ec', script], { env })
  }
  const { stdout } = await runWith([scope ?? 'ai:use'])
  expect(stdout).not.toContain('"error"')
  expect(stdout).not.toBe('')
  if (scope === null || scope === 'projects:read') return
  await expect(runWith(['ai:use'])).rejects.toMatchObject({ stdout: expect.stringContaining(scope) as unknown })
})
