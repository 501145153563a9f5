/**
 * `npm run advisories`: fails when the registry knows a vulnerability of a locked package that
 * `accepted-advisories.ts` does not list. Where the registry does not answer, it says so in one line and passes: what it
 * would say is not ours to break. Not part of `npm run check`, which depends on the checkout alone.
 */
import { spawn } from 'node:child_process'
import { stdout } from 'node:process'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { acceptedAdvisories, type Accepted } from './accepted-advisories.ts'

const TIMEOUT_MS = 30_000
const MAX_AHEAD_DAYS = 184

const Advisory = z.object({ url: z.string(), title: z.string(), severity: z.string(), range: z.string() })
const Report = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(z.string(), z.object({ via: z.array(z.union([z.string(), Advisory])) })),
})
const Refusal = z.object({ statusCode: z.number().optional(), message: z.string().optional() })

export type Found = { readonly id: string; readonly package: string; readonly text: string }

/** Known vulnerabilities of the locked packages of a folder; `noAnswer` says why the registry does not tell. */
export async function askRegistry(
  folder: string,
  { env = {}, timeoutMs = TIMEOUT_MS }: { env?: Record<string, string>; timeoutMs?: number } = {},
): Promise<{ found: Found[] } | { noAnswer: string }> {
  const child = spawn('npm', ['audit', '--json', '--package-lock-only'], {
    cwd: folder,
    env: { ...process.env, npm_config_fetch_retries: '0', npm_config_fetch_timeout: `${timeoutMs}`, ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const ended = await new Promise<string>((resolve) => {
    child.on('error', ({ message }) => resolve(message))
    child.on('close', () => resolve(''))
  })
  const isLate = child.killed
  clearTimeout(timer)
  const json = parsed(output)
  const report = Report.safeParse(json)
  if (report.success) return { found: advisoriesOf(report.data) }
  if (isLate) return { noAnswer: `nothing within ${timeoutMs / 1000} s` }
  const { statusCode, message } = Refusal.safeParse(json).data ?? {}
  return { noAnswer: statusCode === undefined ? (message ?? (ended || 'no report')) : `status ${statusCode}` }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** A package that only depends on a vulnerable one names it instead of an advisory. */
function advisoriesOf({ vulnerabilities }: z.infer<typeof Report>): Found[] {
  return Object.entries(vulnerabilities).flatMap(([name, { via }]) =>
    via
      .filter((one) => typeof one !== 'string')
      .map(({ url, title, severity, range }) => ({
        id: url.split('/').at(-1) ?? url,
        package: name,
        text: `${name} ${range}: ${title} (${severity}, ${url})`,
      })),
  )
}

/** Things to do, one line each: advisories that are not accepted, and acceptances that say too much. */
export function advisoryProblems(found: readonly Found[], accepted: readonly Accepted[], today: string): string[] {
  const latest = new Date(Date.parse(today) + MAX_AHEAD_DAYS * 86_400_000).toISOString().slice(0, 10)
  const isFor = (one: Accepted) => (other: Found) => one.id === other.id && one.package === other.package
  return [
    ...found.filter((one) => !accepted.some((entry) => isFor(entry)(one))).map(({ text }) => text),
    ...accepted.flatMap((entry) => {
      const name = `scripts/accepted-advisories.ts: ${entry.id} of ${entry.package}`
      const advisory = found.find(isFor(entry))
      if (advisory === undefined) return [`${name} is no longer reported: remove its line`]
      if (entry.until <= today) return [`${name} was accepted until ${entry.until}: ${advisory.text}`]
      return entry.until > latest ? [`${name} is accepted for more than half a year`] : []
    }),
  ]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const answer = await askRegistry(fileURLToPath(new URL('../', import.meta.url)))
  if ('noAnswer' in answer) stdout.write(`advisories: not checked, the registry does not answer (${answer.noAnswer})\n`)
  else {
    const lines = advisoryProblems(answer.found, acceptedAdvisories, new Date().toISOString().slice(0, 10))
    stdout.write(lines.length === 0 ? 'advisories: none\n' : `${lines.join('\n')}\n`)
    process.exitCode = lines.length === 0 ? 0 : 1
  }
}
