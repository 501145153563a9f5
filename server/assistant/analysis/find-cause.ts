import type { Analysis, Evidence } from './analysis.api.ts'
import type { FactEvent, Facts, Frame, ReleaseFacts, SharedValue, Crumb } from './facts.ts'
import { failingFrame, describePlace, listStacks, suspectCommits } from './frames.ts'
import { recognise } from './known-errors.ts'
import { capital, counted, cutLine, wholePercent, quoted, spanText, momentText } from './plain.ts'
import { DAY_MS } from '../../platform/kernel/day.ts'

/** The analysis by rules, without any model: everything it says is in the facts. Pure. */

export type Finding = Pick<Analysis, 'cause' | 'explanation' | 'next_step' | 'confidence'> & {
  readonly evidence: Evidence[]
}

type Cause = {
  /** A clause: `the property “x” was read of a value that is undefined`. */
  readonly clause: string
  readonly next: string | null
  readonly frame: Frame | null
  /** Whether a rule knows the error. */
  readonly isKnown: boolean
  readonly isOutside: boolean
  /** The error in which the cause surfaces, when it is wrapped. */
  readonly surface: string | null
}

const MAX_EVIDENCE = 12

export function findCause(facts: Facts): Finding {
  const { issue } = facts
  const event = issue.event ?? facts.events[0] ?? null
  const cause = event === null ? withoutEvent(facts) : causeOf(event, facts)
  const place = cause.frame === null ? null : describePlace(cause.frame)
  const commits = commitsOf(facts, cause.frame)
  const releases = releaseEvidence(facts)
  const crumbs = crumbEvidence(facts)
  const values = valueEvidence(facts)
  const trend = trendEvidence(facts)
  const evidence = [
    ...frameEvidence(facts, cause.frame, place),
    ...commits.evidence,
    ...releases,
    ...crumbs,
    ...values,
    ...trend,
    ...feedbackEvidence(facts),
  ].slice(0, MAX_EVIDENCE)
  const isReadable = cause.frame === null || cause.frame.unreadable === undefined
  return {
    cause: cutLine(`${capital(cause.clause)}${place === null ? '' : `, in ${place}`}.`, 400),
    explanation: explain(facts, event, cause, [...releases, ...crumbs, ...values, ...trend]),
    evidence,
    next_step: nextStep(facts, cause, place, commits.first, isReadable),
    confidence: confidenceOf(cause, isReadable, commits.first !== null || values.length > 0 || crumbs.length > 0),
  }
}

/**
 * The rules of certainty, as docs/assistant.md has them:
 * - high: a known error, at a readable line of the app, and one more fact that narrows it: a commit, a value that stands
 *   out or a shared breadcrumb;
 * - medium: a known error at a frame of the app, or an error of the app with a fact that narrows it;
 * - low: everything else.
 */
function confidenceOf({ isKnown, frame }: Cause, isReadable: boolean, isNarrowed: boolean): Analysis['confidence'] {
  const isOwn = frame !== null && frame.in_app && isReadable
  if (isKnown && isOwn && frame.lineno !== null && isNarrowed) return 'high'
  if (isOwn && (isKnown || isNarrowed)) return 'medium'
  return 'low'
}

// The cause

const withoutEvent = ({ issue }: Facts): Cause => ({
  clause: `${quoted(issue.title)} was recorded, and none of its events is stored any more`,
  next: 'Wait for another event, or resolve it.',
  frame: null,
  isKnown: false,
  isOutside: false,
  surface: null,
})

const BLOCKED = /^(?:ANR|ApplicationNotResponding|BackgroundANR|App ?Hang(?:ing)?\b.*)/i
const POLICY = new Set(['csp', 'hpkp', 'expectct', 'expectstaple', 'nel'])

function causeOf(event: FactEvent, { issue }: Facts): Cause {
  const { exceptions, platform } = event
  const newest = exceptions.at(-1)
  const isBlocked = exceptions.some(
    ({ type, mechanism }) => BLOCKED.test(type ?? '') || /^(?:ANR|AppExitInfo|AppHang)$/i.test(mechanism?.type ?? ''),
  )
  if (isBlocked) return blocked(event)
  // The oldest cause is first: what surfaces later only passes it on.
  const known = exceptions
    .map(({ type, value }, at) => ({ at, found: recognise(type, value, platform) }))
    .find(({ found }) => found !== null)
  if (known?.found != null) {
    const { means, next, isOutside } = known.found
    const frame = failingFrame(listStacks(event, known.at))
    const surface = newest === undefined || known.at === exceptions.length - 1 ? null : errorText(newest)
    return { clause: means, next, frame, isKnown: true, isOutside, surface }
  }
  if (newest !== undefined) {
    const at = exceptions.length === 0 ? 0 : exceptions.length - 1
    const root = exceptions[0] === newest ? null : exceptions[0]
    const thrown = root == null ? errorText(newest) : errorText(root)
    return {
      clause: `${thrown} ${issue.is_unhandled ? 'is thrown and not caught' : 'is thrown'}`,
      next: null,
      frame: failingFrame(listStacks(event, root == null ? at : 0)),
      isKnown: false,
      isOutside: false,
      surface: root == null ? null : errorText(newest),
    }
  }
  if (POLICY.has(event.type))
    return {
      clause: `a policy of the page refused something: ${quoted(issue.title, 200)}`,
      next: 'Allow it in the policy when it belongs to the app; else look for what injects it.',
      frame: null,
      isKnown: true,
      isOutside: true,
      surface: null,
    }
  const signal = recognise(null, event.message ?? issue.title, platform)
  return {
    clause: signal?.means ?? `the app reports ${quoted(event.message ?? issue.title, 200)} itself`,
    next: signal?.next ?? null,
    frame: failingFrame(listStacks(event, 0)),
    isKnown: signal !== null,
    isOutside: signal?.isOutside ?? false,
    surface: null,
  }
}

function blocked(event: FactEvent): Cause {
  const main = event.threads.find(({ main: isMain, stacktrace }) => isMain && (stacktrace?.frames.length ?? 0) > 0)
  const ofException = event.exceptions.at(-1)?.stacktrace?.frames ?? []
  const frames = ofException.length > 0 ? ofException : (main?.stacktrace?.frames ?? [])
  const why = whyBlocked(frames)
  return {
    clause: `the main thread does not answer${why === null ? '' : `: ${why.means}`}`,
    next: why?.next ?? 'Move the work of the main thread to the background.',
    frame: failingFrame([frames]),
    isKnown: why !== null,
    isOutside: false,
    surface: null,
  }
}

const errorText = ({ type, value }: { type: string | null; value: string | null }): string => {
  const name = type === null || type === '' ? 'an error' : cutLine(type, 100)
  return value === null || value === '' ? name : `${name} ${quoted(value, 160)}`
}

// The evidence

const linkTo = ({ issue }: Facts, anchor: string): string => `/issues/${issue.id}#${anchor}`

function frameEvidence(facts: Facts, frame: Frame | null, place: string | null): Evidence[] {
  if (frame === null || place === null) return []
  const line = frame.context_line?.trim()
  const text = `${frame.in_app ? '' : 'No frame is of the app. '}It fails in ${place}${line ? `: ${quoted(line, 160)}` : ''}.`
  return [{ kind: 'frame', text: capital(text), link: linkTo(facts, 'h-trace') }]
}

const known = (...releases: (ReleaseFacts | null)[]): ReleaseFacts[] => releases.filter((one) => one !== null)

/** Commits of the release in which it came back, else of the one in which it began, that changed the file of the frame. */
function commitsOf(facts: Facts, frame: Frame | null): { evidence: Evidence[]; first: string | null } {
  const began = facts.began?.hasEarlier === true ? facts.began : null
  const release = known(facts.regressed, began).find(({ commits }) => suspectCommits(frame, commits).length > 0)
  if (release === undefined) return { evidence: [], first: null }
  const named = suspectCommits(frame, release.commits).map((commit) => {
    const message = commit.message?.split('\n', 1)[0] ?? ''
    const by = commit.author_name === null ? '' : ` by ${cutLine(commit.author_name, 80)}`
    return `${commit.id.slice(0, 8)}${message === '' ? '' : ` ${quoted(message, 100)}`}${by}`
  })
  return {
    first: named[0] ?? null,
    evidence: named.map((name) => ({
      kind: 'commit',
      text: `Commit ${name} of ${cutLine(release.version, 100)} changed the file of this frame.`,
      link: `/releases/${release.id}`,
    })),
  }
}

function releaseEvidence(facts: Facts): Evidence[] {
  const { issue, began, regressed, releases } = facts
  const found: Evidence[] = []
  const add = (release: ReleaseFacts, text: string) =>
    found.push({ kind: 'release', text, link: `/releases/${release.id}` })
  if (regressed !== null) {
    add(
      regressed,
      `It came back in ${cutLine(regressed.version, 100)}. ${cutLine(issue.status_reason ?? '', 300)}`.trim(),
    )
    addDeploy(regressed, Date.parse(issue.status_changed_at), 'it came back', add)
  }
  if (began?.hasEarlier === true) {
    add(
      began,
      `It began in ${cutLine(began.version, 100)}, on ${momentText(issue.first_seen)}; the project has earlier releases without it.`,
    )
    addDeploy(began, Date.parse(issue.first_seen), 'its first event', add)
  }
  const named = releases.items.filter(({ release }) => release !== null)
  const only = named[0]
  if (began?.hasEarlier !== true && named.length === 1 && only?.release != null && only.events >= 5)
    found.push({
      kind: 'release',
      text: `All of its stored events are of ${cutLine(only.release, 100)}.`,
      link: linkTo(facts, 'h-tags'),
    })
  return found
}

/** A deploy within a day before. */
function addDeploy(
  release: ReleaseFacts,
  atMs: number,
  what: string,
  add: (release: ReleaseFacts, text: string) => void,
): void {
  const before = release.deploys
    .map((deploy) => ({ ...deploy, at: Date.parse(deploy.finished_at ?? deploy.started_at ?? deploy.created_at) }))
    .filter(({ at }) => at <= atMs && atMs - at <= DAY_MS)
    .toSorted((a, b) => b.at - a.at)[0]
  if (before !== undefined)
    add(
      release,
      `${cutLine(release.version, 100)} was deployed to ${cutLine(before.environment, 64)} ${spanText(atMs - before.at)} before ${what}.`,
    )
}

function crumbEvidence(facts: Facts): Evidence[] {
  return commonCrumbs(facts.events).map(({ text, events, of }) => ({
    kind: 'breadcrumb',
    text:
      of === 1
        ? `Shortly before it: ${quoted(text, 160)}.`
        : `Shortly before it, in ${events} of the newest ${of} events: ${quoted(text, 160)}.`,
    link: linkTo(facts, 'h-crumbs'),
  }))
}

/** Values by which users are known are no cause, and must not outlive an erasure; others have evidence of their own. */
const SKIPPED = /^(?:user|release$|level$|handled$|mechanism$|dist$|url$|replay|trace|event|session|ip|email)/i
const OF_DEVICE = /^(?:device|os|browser|runtime|gpu|arch|model|orientation)/i
const MAX_VALUES = 3

function valueEvidence(facts: Facts): Evidence[] {
  const { items, events, baseline_events: others } = facts.shared
  if (events < 3 || others < 10) return []
  return items
    .filter(isStriking)
    .slice(0, MAX_VALUES)
    .map(({ key, value, share, baseline_share }) => ({
      kind: OF_DEVICE.test(key) ? 'device' : 'tag',
      text: `${wholePercent(share)} of its newest ${events} events have ${cutLine(key, 60)} ${quoted(value, 100)}; of other events of the project ${wholePercent(baseline_share ?? 0)}.`,
      link: linkTo(facts, 'h-tags'),
    }))
}

const isStriking = ({ key, count, share, lift }: SharedValue): boolean =>
  !SKIPPED.test(key) && count >= 3 && share >= 0.5 && lift !== null && lift >= 2

/** A rise: as much as ten events, and five times what was usual. */
function trendEvidence(facts: Facts): Evidence[] {
  const { issue, trend, latest } = facts
  const { counts, interval_seconds: seconds, start } = trend
  const startMs = Date.parse(start)
  const first = Math.max(0, Math.floor((Date.parse(issue.first_seen) - startMs) / (seconds * 1000)))
  const before = counts.slice(first, -3)
  // Three days of history.
  if (before.length * seconds * 1000 < 3 * DAY_MS) return []
  const recent = counts.slice(-3)
  const top = Math.max(...recent)
  const usual = before.toSorted((a, b) => a - b)[Math.floor(before.length / 2)] ?? 0
  if (top < 10 || top < 5 * Math.max(usual, 1)) return []
  const atMs = startMs + (counts.length - 3 + recent.indexOf(top)) * seconds * 1000
  const hours = Math.round(seconds / 3600)
  const found: Evidence[] = [
    {
      kind: 'trend',
      text: `It rose to ${counted(top, 'event')} in the ${hours} hours from ${momentText(atMs)}; ${usual} were usual.`,
      link: `/issues/${issue.id}`,
    },
  ]
  if (latest !== null)
    addDeploy(latest, atMs + seconds * 1000, 'the rise ended', (release, text) =>
      found.push({ kind: 'release', text, link: `/releases/${release.id}` }),
    )
  return found
}

function feedbackEvidence(facts: Facts): Evidence[] {
  const newest = facts.issue.feedback.find(({ message }) => message.trim() !== '')
  if (newest === undefined) return []
  const many = facts.issue.feedback.length
  return [
    {
      kind: 'feedback',
      text: `${many === 1 ? 'A user writes' : `The newest of ${many} users' messages`}: ${quoted(newest.message, 200)}.`,
      link: linkTo(facts, 'h-feedback'),
    },
  ]
}

// The sentences

function explain({ issue }: Facts, event: FactEvent | null, cause: Cause, facts: readonly Evidence[]): string {
  const line = cause.frame?.context_line?.trim()
  const where = event?.transaction == null || event.transaction === '' ? '' : ` in ${quoted(event.transaction, 100)}`
  const reach = `${counted(issue.event_count, 'event')} of ${counted(issue.user_count, 'user')} since ${momentText(issue.first_seen)}`
  return [
    issue.user_count > 0
      ? `It has ${reach}${where}.`
      : `It has ${counted(issue.event_count, 'event')} since ${momentText(issue.first_seen)}${where}.`,
    line ? `The line that fails is ${quoted(line, 160)}.` : null,
    cause.surface === null ? null : `It surfaces as ${cause.surface}.`,
    cause.isOutside ? 'The reason may lie outside of the app.' : null,
    cause.frame !== null && !cause.frame.in_app ? 'No frame of the stack is of the app.' : null,
    ...facts.slice(0, 4).map(({ text }) => text),
  ]
    .filter((sentence) => sentence !== null)
    .join(' ')
}

function nextStep(
  { issue }: Facts,
  { next, frame, isKnown }: Cause,
  place: string | null,
  commit: string | null,
  isReadable: boolean,
): string {
  if (!isReadable)
    return `Upload the source maps or debug files of ${issue.last_release === null ? 'this build' : cutLine(issue.last_release, 100)} first: this stack is not readable.`
  const steps = [
    commit === null ? null : `Read commit ${commit} first.`,
    next,
    next === null && place !== null ? `Start at ${place}, and look for the conditions under which it throws.` : null,
    next === null && place === null ? 'Send a stack with it, or more context, such as breadcrumbs and tags.' : null,
    isKnown && frame !== null && !frame.in_app
      ? 'Mark the modules of your app as in-app, so that its frame shows.'
      : null,
  ]
  return steps.filter((step) => step !== null).join(' ')
}

/** Reasons why a main thread does not answer, by its innermost frames. */
const WAITS: readonly { readonly frame: RegExp; readonly means: string; readonly next: string }[] = [
  {
    frame: /QueuedWork\.waitToFinish|SharedPreferencesImpl.*(?:awaitLoadedLocked|commit|writeToFile)/,
    means: 'it waits until preferences are written or read',
    next: 'Use apply() less often before a screen ends, or DataStore.',
  },
  {
    frame: /SQLite|sqlite3|RoomDatabase|CoreData|NSPersistentStore|NSManagedObjectContext/i,
    means: 'it reads or writes a database',
    next: 'Move the query to a background thread.',
  },
  {
    frame:
      /socketRead|SocketInputStream|HttpURLConnection|okhttp3|NetworkDispatcher|sendSynchronousRequest|CFNetwork|recvfrom|Socket\.connect/i,
    means: 'it waits for the network',
    next: 'Move the request to a background thread.',
  },
  {
    frame: /Thread\.sleep|\bnanosleep\b|\busleep\b|SystemClock\.sleep/,
    means: 'it sleeps',
    next: 'Post the work later instead of sleeping.',
  },
  {
    frame: /BinderProxy\.transact|transactNative|mach_msg.*xpc|NSXPC/,
    means: 'it waits for another process',
    next: 'Call the other process from a background thread.',
  },
  {
    frame:
      /FileInputStream|FileOutputStream|RandomAccessFile|libcore\.io|\bfsync\b|\bfread\b|NSData.*initWithContents|AssetManager|ZipFile/,
    means: 'it reads or writes a file',
    next: 'Move the work with files to a background thread.',
  },
  {
    frame:
      /Object\.wait|Unsafe\.park|LockSupport|ReentrantLock|Monitor|semaphore_wait|psynch_(?:mutex|cv)wait|dispatch_sync|CountDownLatch|FutureTask\.get|runBlocking|pthread_mutex/i,
    means: 'it waits for a lock or for another thread',
    next: 'Find the thread that holds the lock, and do not wait on the main thread.',
  },
  {
    frame: /BitmapFactory|Bitmap\.|decodeStream|ImageIO|UIImage/,
    means: 'it decodes an image',
    next: 'Decode images in the background, at the size that is shown.',
  },
  {
    frame: /LayoutInflater|onMeasure|onLayout|UITableView|UICollectionView|layoutSubviews|Choreographer/,
    means: 'it builds or lays out views',
    next: 'Make the layout flatter, and create fewer views at once.',
  },
  {
    frame: /JSONObject|Gson|Moshi|JSONSerialization|JSONDecoder|kotlinx\.serialization|ObjectMapper/,
    means: 'it parses JSON',
    next: 'Parse in the background.',
  },
]

/** Frames from the innermost on that are looked at. */
const MAX_FRAMES = 15

/** Why the main thread does not answer; null when its frames do not say. The list above is from particular to general. */
export function whyBlocked(frames: readonly Frame[]): { readonly means: string; readonly next: string } | null {
  const names = frames
    .slice(-MAX_FRAMES)
    .map(({ module, function: name, package: library }) => [module ?? library, name].filter(Boolean).join('.'))
  const found = WAITS.find(({ frame }) => names.some((name) => frame.test(name)))
  if (found !== undefined) return found
  // The thread waits for the next message: it had work before.
  if (names.slice(-3).some((name) => /nativePollOnce|MessageQueue\.next$/.test(name)))
    return {
      means: 'it was idle again when the stack was taken',
      next: 'Look at the breadcrumbs and the trace before it: the work that blocked it had ended.',
    }
  return null
}

/** Breadcrumbs that most events have shortly before they fail. Pure. */

type CommonCrumb = {
  readonly text: string
  /** Events that have it among their last breadcrumbs. */
  readonly events: number
  readonly of: number
  readonly isFailure: boolean
}

/** The last breadcrumbs of an event that are compared. */
const LAST = 6
const MIN_SHARE = 0.6
const MAX_CRUMBS = 2

/** The breadcrumbs that at least 60 % of the events have among their last six: failures first, then the latest. */
export function commonCrumbs(events: readonly FactEvent[]): CommonCrumb[] {
  const withCrumbs = events.filter(({ breadcrumbs }) => breadcrumbs.length > 0)
  const seen = new Map<string, { text: string; events: number; distance: number; isFailure: boolean }>()
  for (const { breadcrumbs } of withCrumbs) {
    const own = new Set<string>()
    for (const [distance, crumb] of breadcrumbs.slice(-LAST).toReversed().entries()) {
      const text = crumbText(crumb)
      if (text === null) continue
      const key = withoutNumbers(text)
      if (own.has(key)) continue
      own.add(key)
      const known = seen.get(key)
      if (known === undefined) seen.set(key, { text, events: 1, distance, isFailure: isFailure(crumb) })
      else {
        known.events++
        known.distance += distance
      }
    }
  }
  return [...seen.values()]
    .filter((one) => one.events / withCrumbs.length >= MIN_SHARE)
    .toSorted(
      (a, b) =>
        Number(b.isFailure) - Number(a.isFailure) ||
        b.events - a.events ||
        a.distance / a.events - b.distance / b.events,
    )
    .slice(0, MAX_CRUMBS)
    .map(({ text, events: count, isFailure: failed }) => ({
      text,
      events: count,
      of: withCrumbs.length,
      isFailure: failed,
    }))
}

const statusOf = ({ data }: Crumb): number | null => {
  const status = Number(data?.['status_code'] ?? data?.['http.response.status_code'] ?? Number.NaN)
  return Number.isInteger(status) && status >= 100 && status < 600 ? status : null
}

const isFailure = (crumb: Crumb): boolean =>
  crumb.level === 'error' || crumb.level === 'fatal' || crumb.level === 'warning' || (statusOf(crumb) ?? 0) >= 400

const textIn = (data: Crumb['data'], name: string): string | null => {
  const value = data?.[name]
  return typeof value === 'string' && value !== '' ? value : null
}

/** A breadcrumb as a short text, without values of queries; null for one that says nothing. */
function crumbText(crumb: Crumb): string | null {
  const { data, message, category, type } = crumb
  const url = textIn(data, 'url')
  if (url !== null) {
    const path = url.split(/[?#]/, 1)[0] ?? ''
    const status = statusOf(crumb)
    return cutLine(`${textIn(data, 'method') ?? 'GET'} ${path}${status === null ? '' : ` answered ${status}`}`, 160)
  }
  const [from, to] = [textIn(data, 'from'), textIn(data, 'to')]
  if (to !== null) return cutLine(`navigation${from === null ? '' : ` from ${path(from)}`} to ${path(to)}`, 160)
  if (message !== null && message.trim() !== '')
    return cutLine(`${category === null || category === '' ? '' : `${category}: `}${message}`, 160)
  const view = textIn(data, 'view.id') ?? textIn(data, 'screen') ?? textIn(data, 'action')
  return view === null ? null : cutLine(`${category ?? type} ${view}`, 160)
}

const path = (url: string): string => url.split(/[?#]/, 1)[0] ?? ''

/** Ids and counts differ between events that are alike. */
const withoutNumbers = (text: string): string =>
  text.replace(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{12,}\b|(?<!answered )\b\d+\b/gi, '#')
