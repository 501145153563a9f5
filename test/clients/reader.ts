import { expect } from 'vitest'
import { z } from 'zod'
import type { CheckInItem } from '../../server/telemetry/monitors/monitors.api.ts'
import type { Event, Frame } from '../../server/events/protocol/event.api.ts'
import type { Breakdown } from '../../server/insights/metrics/metrics.api.ts'
import type { Feedback } from '../../server/issues/feedback/feedback.api.ts'
import type { Issue } from '../../server/issues/rules/issue.api.ts'
import type { IssueDetail } from '../../server/issues/triage/issues.api.ts'
import type { LogItem, TraceMetricItem } from '../../server/telemetry/logs/telemetry.api.ts'
import type { Transaction } from '../../server/telemetry/performance/performance.api.ts'
import type { Trace } from '../../server/telemetry/traces/traces.api.ts'
import type { Client } from '../kit/client.ts'
import type { TestProject } from '../kit/founder.ts'

/**
 * The parts of a project that a member reads, in short: as the API answers them, without ids, times, line numbers and
 * what depends on the machine. Issues are in the order of their titles, everything else as the API orders it.
 */
export type Shown = {
  readonly issues: readonly IssueLines[]
  /** By release. */
  readonly sessions: readonly string[]
  readonly transactions: readonly string[]
  readonly logs: readonly string[]
  readonly metrics: readonly string[]
  readonly check_ins: readonly string[]
  readonly feedback: readonly string[]
}

export type IssueLines = {
  readonly title: string
  readonly culprit: string
  readonly level: string
  readonly unhandled: boolean
  /** Release and environment of its newest event; all that follows is of this event, too. */
  readonly of: string
  readonly user: string | null
  readonly tags: readonly string[]
  readonly breadcrumbs: readonly string[]
  /** The innermost frames of the stack that names the issue. Frames that are not in-app are one line each time. */
  readonly stack: readonly string[]
  /** The line of source of the innermost frame in-app. */
  readonly source: string | null
  readonly causes: readonly string[]
  readonly attachments: readonly string[]
  /** Spans of the app, in the trace that the issue links to. */
  readonly trace: readonly string[]
}

/** Culprits and stacks may be left out; then they are not compared. */
export type ExpectedLines = Omit<IssueLines, 'culprit' | 'stack'> & Partial<Pick<IssueLines, 'culprit' | 'stack'>>
export type Expected = Omit<Shown, 'issues'> & { readonly issues: readonly ExpectedLines[] }

/** Deeper lines of a stack are of the program that starts the app, and change with its versions. */
const STACK_LINES = 3

/** Compares a project with what it should show, for as long as a busy machine may need. */
export async function expectShown(person: Client, project: TestProject, expected: Expected): Promise<void> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const shown = await readShown(person, project)
    try {
      expect(shown).toMatchObject(expected)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100)
    })
  }
}

async function readShown(person: Client, project: TestProject): Promise<Shown> {
  const list = async <T>(path: string): Promise<T[]> => (await person.get(path)).as<{ items: T[] }>().items
  const own = `/api/projects/${project.id}`
  const issues = await list<Issue>(`${own}/issues`)
  const read = await Promise.all(issues.map((issue) => readIssue(person, issue)))
  const traces = new Map(read.flatMap(({ trace }) => (trace === null ? [] : [[trace.trace_id, trace]])))
  const breakdown = await person.get(`/api/metrics/breakdown?projectId=${project.id}&dimension=release`)
  const transactions = await list<Transaction>(`/api/performance/transactions?projectId=${project.id}`)
  return {
    issues: read.map(({ shown }) => shown).sort((one, other) => (one.title < other.title ? -1 : 1)),
    sessions: breakdown.as<Breakdown>().rows.map(sessionLine),
    transactions: transactions.map(transactionLine),
    logs: (await list<LogItem>(`${own}/logs`)).map((log) => logLine(log, traces)),
    metrics: (await list<TraceMetricItem>(`${own}/trace-metrics`)).map(
      ({ name, type, value }) => `${type} ${name} ${value}`,
    ),
    check_ins: (await list<CheckInItem>(`${own}/check-ins`)).map(checkInLine),
    feedback: (await list<Feedback>(`${own}/feedback`)).map((feedback) => feedbackLine(feedback, issues)),
  }
}

async function readIssue(person: Client, listed: Issue): Promise<{ shown: IssueLines; trace: Trace | null }> {
  const issue = (await person.get(`/api/issues/${listed.id}`)).as<IssueDetail>()
  const { event, kept_trace_id: traceId } = issue
  if (event === null) throw new Error(`${issue.title} has no event`)
  const trace =
    traceId === null ? null : (await person.get(`/api/projects/${issue.project_id}/traces/${traceId}`)).as<Trace>()
  const frames = framesOf(event)
  const shown = {
    title: issue.title,
    culprit: issue.culprit,
    level: issue.level,
    unhandled: issue.is_unhandled,
    of: `${event.release}, ${event.environment}`,
    user: event.user === null ? null : [event.user.id, event.user.email].filter((part) => part !== null).join(' '),
    // The name of the machine.
    tags: event.tags.filter(({ key }) => key !== 'server_name').map(({ key, value }) => `${key} ${value}`),
    breadcrumbs: breadcrumbsOf(event),
    stack: stackOf(frames).slice(0, STACK_LINES),
    source: frames.find((frame) => frame.in_app)?.context_line?.trim() ?? null,
    causes: event.exceptions
      .filter((one) => one.type !== null && one !== namingException(event))
      .reverse()
      .map(({ type, value }) => `${type}: ${value}`),
    attachments: issue.attachments.map(({ filename, size_bytes }) => `${filename}, ${size_bytes} bytes`),
    trace: trace === null ? [] : spansOf(trace),
  }
  return { shown, trace }
}

const namingException = ({ exceptions, error_type, error_value }: Event): Event['exceptions'][number] | undefined =>
  exceptions.findLast(({ type, value }) => type === error_type && value === error_value)

/** Innermost first. */
function framesOf(event: Event): Frame[] {
  const threads = event.threads.filter(({ stacktrace }) => stacktrace !== null)
  const thread = threads.find(({ crashed, current }) => crashed || current) ?? threads[0]
  const naming = namingException(event)
  const stack = naming === undefined ? (event.exceptions.at(-1) ?? thread)?.stacktrace : naming.stacktrace
  return (stack?.frames ?? []).toReversed()
}

function stackOf(frames: readonly Frame[]): string[] {
  const lines = frames.map(({ function: name, filename, abs_path, in_app }) =>
    in_app ? `${name ?? '(unknown)'} in ${(filename ?? abs_path)?.replace(/^.*[/\\]/, '')}` : '(not in-app)',
  )
  return lines.filter((line, index) => line !== '(not in-app)' || lines[index - 1] !== line)
}

/** Without warnings of the runtime and the SDK's own notes, which contain ids. */
function breadcrumbsOf({ breadcrumbs }: Event): string[] {
  return breadcrumbs
    .filter(({ category }) => category !== 'console' && category?.startsWith('sentry.') !== true)
    .map(({ category, message, data }) => `${category}: ${message}${data === null ? '' : ` ${JSON.stringify(data)}`}`)
}

/** Without the load of a page and its parts, which an SDK measures by itself. */
function spansOf({ spans }: Trace): string[] {
  const pageLoad = spans.find(({ op }) => op === 'pageload')
  return spans
    .filter((span) => span !== pageLoad && (span.is_segment || span.parent_span_id !== pageLoad?.span_id))
    .map(({ op, description, duration_ms }) => `${op} ${description}, ${Math.round(duration_ms)} ms`)
}

const sessionLine = ({ name, sessions, crashed, unhandled, users }: Breakdown['rows'][number]): string =>
  `${name}: ${sessions}, ${crashed} crashed, ${unhandled} unhandled, ${users ?? 'unknown'} users`

/** The load of a page takes as long as this machine needs. */
const transactionLine = ({ name, op, count, p50 }: Transaction): string =>
  `${op} ${name}, ${count}${op === 'pageload' ? '' : `, ${Math.round(p50 ?? 0)} ms`}`

const Attribute = z.object({ value: z.union([z.string(), z.number()]) })

/** Attributes that the app gave, and its user's: the others are of the SDK and the machine. */
function logLine({ level, body, attributes, trace_id }: LogItem, traces: ReadonlyMap<string, Trace>): string {
  const given = Object.entries(attributes)
    .filter(([name]) => name.startsWith('user.') || !/\.|^parameters$|^parent_span_id$/.test(name))
    .map(([name, attribute]) => `${name} ${Attribute.parse(attribute).value}`)
    .sort()
  const trace = trace_id === null ? undefined : traces.get(trace_id)
  return [`${level} ${body}`, ...given, ...(trace === undefined ? [] : ['in the trace of an issue'])].join(', ')
}

/** A run without a given duration takes as long as this machine needs. */
function checkInLine({ monitor, status, duration_ms, environment }: CheckInItem): string {
  const duration = duration_ms !== null && duration_ms < 2_000 ? 'under 2000 ms' : `${duration_ms} ms`
  return `${monitor.slug} (${monitor.schedule?.value ?? 'no schedule'}) ${status}, ${duration}, ${environment}`
}

function feedbackLine({ message, name, email, issue_id }: Feedback, issues: readonly Issue[]): string {
  const issue = issues.find(({ id }) => id === issue_id)
  return `${name} ${email}: ${message} (${issue?.title ?? 'no issue'})`
}
