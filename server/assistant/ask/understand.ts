import type { Intent } from './asked.ts'
import { adoption } from './intents/adoption.ts'
import { alerts } from './intents/alerts.ts'
import { breakdown } from './intents/breakdown.ts'
import { compareReleases } from './intents/compare-releases.ts'
import { crashFree } from './intents/crash-free.ts'
import { issue } from './intents/issue.ts'
import { issueUsers } from './intents/issue-users.ts'
import { newIssues } from './intents/new-issues.ts'
import { openIssues } from './intents/open-issues.ts'
import { intake, overview, storeGuard } from './intents/overview.ts'
import { anrs, frames, starts, webVitals } from './intents/performance.ts'
import { regressions } from './intents/regressions.ts'
import { releaseHealth } from './intents/release-health.ts'
import { releases } from './intents/releases.ts'
import { screens, transactions } from './intents/screens.ts'
import { spike } from './intents/spike.ts'
import { userIssues } from './intents/user-issues.ts'
import { affectedUsers, volume } from './intents/volume.ts'
import { worstIssues } from './intents/worst-issues.ts'
import { readQuestion, type Question } from './question.ts'

/** Every kind of question; of equal ones the first is taken. */
const INTENTS: readonly Intent[] = [
  issueUsers,
  issue,
  userIssues,
  starts,
  frames,
  webVitals,
  anrs,
  alerts,
  storeGuard,
  intake,
  adoption,
  regressions,
  spike,
  releases,
  releaseHealth,
  compareReleases,
  breakdown,
  crashFree,
  affectedUsers,
  volume,
  screens,
  transactions,
  newIssues,
  openIssues,
  worstIssues,
  overview,
]

export type Understood = { readonly question: Question; readonly intent: Intent | null }

const LEAVES_OUT = /\b(?:not (?:in|on|from)|excluding|except|other than|apart from)\b/

/** Kinds of figures that no operation has. */
const NOT_COUNTED =
  /\b(?:by|per|each|every|which|top|what) (?:countr|region|cit(?:y|ies)\b|languages?\b|locale|browser|carrier|network|levels?\b|severit|(?:exception |error )?types?\b|teams?\b|assignee|tags?\b|culprit|files?\b|functions?\b|minute|week\b|month\b)|(?:crash|error|issue|event|exception|bug)\w* (?:by|per) (?:screens?|users?|customers?)\b|\b(?:android|ios|os) versions?\b|\b(?:oom|memory|battery)\b|\b(?:more than|over|above|at least|fewer than|less than|under|below|at most) \d[\d.,]* ?(?:%|percent|ms\b|s\b|seconds?|sessions|crashes|errors|anrs)/
/** Lists of users are those of an issue or of a release. */
const LISTS_USERS = /\b(?:which|top|worst|most affected) (?:\d+ )?(?:users|customers|people)\b/

/** The kind of a question by its words; null when none fits. */
function intentOf(question: Question): Intent | null {
  // Figures have filters of what to count only, and none of what to leave out.
  if (LEAVES_OUT.test(question.text) || NOT_COUNTED.test(question.text)) return null
  if (LISTS_USERS.test(question.text) && question.issue === null && question.releases.length === 0) return null
  let best: { intent: Intent; fit: number } | null = null
  for (const intent of INTENTS) {
    const fit = intent.fits(question)
    if (fit > (best?.fit ?? 0)) best = { intent, fit }
  }
  return question.terms.length > 0 && best?.intent.takesTerms !== true ? null : (best?.intent ?? null)
}

/** Begins a question that continues the one before. */
const CONTINUES =
  /^(?:and|what about|how about|but|or|also|same|only|just|then|now|so|ok|okay|for|on|in|with|since|the same)\b/
/** Stands for what was named before. */
const POINTS_BACK = /\b(?:it|its|it's|that|this|these|those|them|they|there|same)\b/
/** Questions with no more words than their scope need no words of a kind. */
const SCOPE_WORDS =
  /\b(?:and|what|how|about|but|or|also|same|only|just|then|now|so|ok|okay|for|on|in|with|since|the|a|of|is|are|it|that|this|last|past|days?|hours?|weeks?|months?|release|version|user|please|instead|today|yesterday|morning|night|overnight|weekend|fortnight|quarter|year|between|from|to|until|before|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|[\W\d_]+/g

/**
 * The last question, with what the ones before it say about its kind and scope: "and on Android?" asks the same again.
 * @param written questions of the user, oldest first
 */
export function understand(written: readonly string[], now: Date): Understood {
  let known: Understood | null = null
  for (const one of written) known = continued(known, readQuestion(one, now))
  return known ?? { question: readQuestion('', now), intent: null }
}

function continued(before: Understood | null, question: Question): Understood {
  const intent = intentOf(question)
  if (before === null) return { question, intent }
  const ownWords = withoutScope(question)
  const isSame = CONTINUES.test(question.text) && (ownWords === '' || intent === null)
  const isShort = intent === null && ownWords === ''
  if (isSame || isShort) {
    const merged = { ...question, ...missing(question, before.question) }
    // A new subject turns the question to it: "which are new?", "and SHOP-3?"
    const kind =
      question.issue !== null || question.user !== null
        ? (intentOf({ ...merged, text: before.question.text }) ?? intent)
        : before.intent
    return { question: { ...merged, text: `${before.question.text} ${question.text}` }, intent: kind ?? intent }
  }
  if (CONTINUES.test(question.text) || POINTS_BACK.test(question.text)) {
    const merged = { ...question, ...missing(question, before.question) }
    return { question: merged, intent: intentOf(merged) ?? before.intent }
  }
  return { question, intent }
}

/** The words of a question that name no scope. */
function withoutScope({ text, releases, os, device, environment, issue, user, period, quoted }: Question): string {
  const scope = [...releases, os, device, environment, issue, user, quoted].flatMap((part) =>
    part === null ? [] : [part.toLowerCase()],
  )
  let rest = text
  for (const part of scope) rest = rest.replaceAll(part, ' ')
  if (period !== null) rest = rest.replaceAll(/\b(?:ago|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w*\b/g, ' ')
  if (releases.length > 0)
    rest = rest.replaceAll(/\b(?:latest|newest|current|previous|prior|former|new|one|before)\b/g, ' ')
  return rest.replaceAll(SCOPE_WORDS, ' ').trim()
}

/** The scope that the question before had and this one does not name. */
function missing(question: Question, before: Question): Partial<Question> {
  const filters = ['period', 'issue', 'user', 'os', 'device', 'environment', 'quoted', 'limit'] as const
  const kept = Object.fromEntries(
    filters.flatMap((key) => (question[key] === null && before[key] !== null ? [[key, before[key]]] : [])),
  )
  return {
    ...kept,
    ...(question.releases.length === 0 ? { releases: before.releases } : {}),
    ...(question.terms.length === 0 ? { terms: before.terms } : {}),
  }
}
