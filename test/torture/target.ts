import { readFileSync, writeFileSync } from 'node:fs'
import { type Service, startService } from '#bench/service.ts'
import { type BenchProject, readMetric, setUpProject } from '#bench/setup-project.ts'

/** The target of a torture: a running service with a project, in this process or another. */
export type Target = {
  readonly url: string
  readonly project: Pick<BenchProject, 'number' | 'publicKey'>
}

/** Without rate limits, and without the end-to-end test, whose event a torture would count. */
export const QUIET = { RATE_LIMIT_SCALE: '0', LOG_LEVEL: 'silent', FAULTLINE_CANARY_MINUTES: '0' }

/** The real service in a separate process, without rate limits, with a project. */
export async function startTarget(
  options: NonNullable<Parameters<typeof startService>[0]> = {},
): Promise<{ service: Service; project: BenchProject; url: string }> {
  const service = await startService({
    ...options,
    env: { ...QUIET, ...options.env },
  })
  try {
    return { service, project: await setUpProject(service.url), url: service.url }
  } catch (error) {
    await service.stop()
    throw error
  }
}

export const envelopePath = ({ project }: Target): string =>
  `/api/${project.number}/envelope/?sentry_version=7&sentry_key=${project.publicKey}`

const field = (pid: number, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Resident memory of a process now, MiB. Linux only, like everything here that reads /proc. */
export const residentMiB = (pid: number): number => field(pid, 'VmRSS')

/** The highest resident memory since the last {@link forgetPeak}, MiB. */
export const peakMiB = (pid: number): number => field(pid, 'VmHWM')

export const forgetPeak = (pid: number): void => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** Waits until everything accepted is digested. @throws Error when that takes longer than two minutes */
export async function waitUntilDigested(url: string, timeoutMs = 120_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  // The figure is missing, which counts as 0, while the database does not answer.
  for (let quiet = 0; quiet < 2;) {
    quiet = (await readMetric(url, 'faultline_spool_backlog_entries')) === 0 ? quiet + 1 : 0
    if (performance.now() > deadline) throw new Error('digestion did not finish in time')
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
  }
}

/** Events stored since the service started. The digest thread reports its sums once a second. */
export async function countStored(url: string): Promise<number> {
  await new Promise((resolve) => {
    setTimeout(resolve, 2_500)
  })
  return readMetric(url, 'faultline_digest_events_total')
}

/** Requests read as SDK traffic, as the service counts them, by status; `null` for the sum. */
export async function countAnswers(url: string, status: number): Promise<number> {
  const text = await (await fetch(`${url}/-/metrics`)).text()
  return Number(new RegExp(`^faultline_intake_answers_total\\{status="${status}"\\} (\\d+)`, 'm').exec(text)?.[1] ?? 0)
}
