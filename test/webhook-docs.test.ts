import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { WEBHOOK_EVENTS } from '#shared/webhook-events.ts'
import { newSecret } from '#server/platform/requests/signing-secret.ts'
import { signature } from '#server/platform/requests/webhook-request.ts'
import { VERIFY_SNIPPETS } from '../web/features/integrations/webhooks/verify-snippets.ts'

const run = promisify(execFile)
const folder = mkdtempSync(join(tmpdir(), 'faultline-snippets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** One verification: header and body, and whether it must be accepted. */
type Case = { readonly name: string; readonly header: string; readonly body: string; readonly isGenuine: boolean }

const SECRET = newSecret()
const BODY = '{"id":"evt_1","type":"device.new","data":{"device_label":"Zoës ’Gerät’ 🧭"}}'

function casesNow(): Case[] {
  const now = Math.floor(Date.now() / 1_000)
  const bytes = Buffer.from(BODY)
  const signed = (at: number, secrets = [SECRET]) => signature(secrets, at, bytes)
  const good = signed(now)
  const hex = good.slice(good.indexOf('v1=') + 3)
  const accepted = { isGenuine: true, body: BODY }
  const refused = { isGenuine: false, body: BODY }
  return [
    { ...accepted, name: 'as sent', header: good },
    { ...accepted, name: 'five minutes old', header: signed(now - 290) },
    { ...accepted, name: 'a clock that is ahead', header: signed(now + 290) },
    { ...accepted, name: 'two secrets, ours second', header: signed(now, [newSecret(), SECRET]) },
    { ...accepted, name: 'two secrets, ours first', header: signed(now, [SECRET, newSecret()]) },
    { ...refused, name: 'too old', header: signed(now - 310) },
    { ...refused, name: 'from the future', header: signed(now + 310) },
    { ...refused, name: 'another secret', header: signed(now, [newSecret()]) },
    { ...refused, name: 'the time changed', header: good.replace(String(now), String(now + 1)) },
    { ...refused, name: 'upper case', header: good.replace(hex, hex.toUpperCase()) },
    { ...refused, name: 'bytes behind the signature', header: `${good}00` },
    { ...refused, name: 'a short signature', header: good.slice(0, -2) },
    { ...refused, name: 'another scheme', header: good.replace('v1=', 'v0=') },
    { ...refused, name: 'no time', header: `v1=${hex}` },
    { ...refused, name: 'no signature', header: `t=${now}` },
    { ...refused, name: 'not a number', header: `t=${now}abc,v1=${hex}` },
    { ...refused, name: 'empty', header: '' },
    { ...refused, name: 'text that is not ASCII', header: `t=${now},v1=${'é'.repeat(32)}` },
    { ...refused, name: 'the body written again', header: good, body: JSON.stringify(JSON.parse(BODY), null, 1) },
    { ...refused, name: 'a byte of the body changed', header: good, body: BODY.replace('evt_1', 'evt_2') },
  ]
}

/** Runs a program that prints one JSON list of verdicts for the cases on its standard input. */
type Runner = (code: string, cases: readonly Case[]) => Promise<boolean[]>

async function judged(command: string, args: readonly string[], cwd = folder): Promise<boolean[]> {
  const { stdout } = await run(command, args, {
    cwd,
    env: { ...process.env, GOCACHE: join(folder, 'go'), GOFLAGS: '' },
  })
  return JSON.parse(stdout) as boolean[]
}

const casesFile = (cases: readonly Case[]): string => {
  const file = join(folder, 'cases.json')
  writeFileSync(file, JSON.stringify({ secret: SECRET, cases }))
  return file
}

const RUNNERS: Readonly<Record<string, { readonly command: string; readonly run: Runner }>> = {
  node: {
    command: process.execPath,
    run(code, cases) {
      const file = join(folder, 'verify.mjs')
      writeFileSync(
        file,
        `${code}
import { readFileSync } from 'node:fs'
const { secret, cases } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
console.log(JSON.stringify(cases.map(({ header, body }) => isGenuine(secret, header, Buffer.from(body)))))
`,
      )
      return judged(process.execPath, [file, casesFile(cases)])
    },
  },
  python: {
    command: 'python3',
    run(code, cases) {
      const file = join(folder, 'verify.py')
      writeFileSync(
        file,
        `${code}
import json
import sys

given = json.load(open(sys.argv[1], encoding="utf-8"))
print(json.dumps([is_genuine(given["secret"], case["header"], case["body"].encode()) for case in given["cases"]]))
`,
      )
      return judged('python3', [file, casesFile(cases)])
    },
  },
  ruby: {
    command: 'ruby',
    run(code, cases) {
      const file = join(folder, 'verify.rb')
      writeFileSync(
        file,
        `${code}
require "json"
given = JSON.parse(File.read(ARGV[0]))
puts JSON.generate(given["cases"].map { |c| genuine?(given["secret"], c["header"], c["body"]) })
`,
      )
      return judged('ruby', [file, casesFile(cases)])
    },
  },
  php: {
    command: 'php',
    run(code, cases) {
      const file = join(folder, 'verify.php')
      writeFileSync(
        file,
        `${code}
$given = json_decode(file_get_contents($argv[1]), true);
echo json_encode(array_map(fn ($c) => isGenuine($given['secret'], $c['header'], $c['body']), $given['cases']));
`,
      )
      return judged('php', [file, casesFile(cases)])
    },
  },
}

async function isInstalled(command: string): Promise<boolean> {
  return run(command, ['--version']).then(
    () => true,
    () => false,
  )
}

const installed = new Set<string>()
beforeAll(async () => {
  for (const { command } of Object.values(RUNNERS)) if (await isInstalled(command)) installed.add(command)
})

const runnable = VERIFY_SNIPPETS.filter(({ id }) => id in RUNNERS)

describe('programs that verify a signature', () => {
  test.for(runnable)('$label accepts what is genuine and nothing else', async ({ id, code }, { skip }) => {
    const runner = RUNNERS[id]
    if (runner === undefined) return
    skip(!installed.has(runner.command), `${runner.command} is not installed here`)
    const cases = casesNow()
    const verdicts = await runner.run(code, cases)
    expect(cases.map(({ name }, index) => [name, verdicts[index]])).toEqual(
      cases.map(({ name, isGenuine }) => [name, isGenuine]),
    )
  })

  test('docs/webhooks.md shows the same programs', () => {
    const page = readFileSync(new URL('../docs/webhooks.md', import.meta.url), 'utf8')
    for (const { code } of VERIFY_SNIPPETS) expect(page).toContain(code.trim())
  })
})

test('docs/webhooks.md lists every event type with its fields', () => {
  const page = readFileSync(new URL('../docs/webhooks.md', import.meta.url), 'utf8')
  for (const { type, meaning, fields } of WEBHOOK_EVENTS) {
    const row = page.split('\n').find((line) => line.startsWith(`| \`${type}\` |`)) ?? ''
    expect(row).toContain(`| ${meaning} |`)
    for (const field of fields) expect(row).toContain(`\`${field}\``)
  }
})
