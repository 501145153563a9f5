import type { z } from 'zod'
import { recordFacts } from '../../history/facts/record-facts.ts'
import type { OrgActor } from '../../platform/context/actor.ts'
import type { App } from '../../platform/context/app.ts'
import { factContext } from '../../platform/context/fact-context.ts'
import { AppError, notFound } from '../../platform/kernel/errors.ts'
import { hasModel } from '../models/ask-model.ts'
import { ModelError } from '../models/model-error.ts'
import { guardStatement } from '../query/guard/guard-statement.ts'
import { RefusedStatement } from '../query/guard/refused-statement.ts'
import type { AskedQuestion } from '../query/translation.ts'
import { writeStatement } from '../query/write-statement.ts'
import { answerByRules } from './answer-by-rules.ts'
import type { AnswerEvent, askRoutes } from './ask.api.ts'
import { readProjects, type Asked } from './asked.ts'
import { Facts } from './facts.ts'
import { hasProject } from './has-project.queries.ts'
import { overview } from './intents/overview.ts'
import { worstIssues } from './intents/worst-issues.ts'
import { IssueDetail, type Project, Release } from './shapes.ts'
import { understand, type Understood } from './understand.ts'
import { wordByModel } from './word-by-model.ts'

export type Body = z.output<(typeof askRoutes)['ask']['body']>

/** Someone asks for rows instead of sentences. */
const WANTS_STATEMENT =
  /\bsql\b|\bas a (?:table|query|list of rows)\b|\bin a table\b|\bquery for\b|\btable of\b|\bstatement\b/i

/**
 * Refuses a question about something that the organisation does not have.
 * @throws AppError not_found
 */
export async function checkScope(app: App, actor: OrgActor, { project_id }: Pick<Body, 'project_id'>): Promise<void> {
  if (project_id !== undefined && !(await hasProject(app.db, actor.orgId, project_id))) throw notFound('Project')
}

/**
 * Answers a question: facts are read as the caller first; then the rules say them, or a model words them. An error is an event, too.
 * @param emit takes the events in order, without the end
 */
export async function answerQuestion(
  app: App,
  actor: OrgActor,
  body: Body,
  { signal, emit }: { readonly signal: AbortSignal; readonly emit: (event: AnswerEvent) => void },
): Promise<void> {
  const facts = new Facts(app, actor, signal)
  const questions = body.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []))
  const understood = await withSubject(understand(questions.slice(-MAX_CONTINUED), app.clock.now()), body, facts)
  const { projects, projectId } = scopeOf(await readProjects(facts), body.project_id, understood)
  // Only figures that are read project by project need the list.
  const [noProjects = null] = facts.refused
  facts.refused.clear()
  const isWorded = hasModel(app)
  const draft: string[] = []
  const asked: Asked = {
    question: understood.question,
    projects,
    projectId,
    noProjects,
    facts,
    say(line) {
      draft.push(line)
      if (!isWorded)
        emit({ delta: `${draft.length === 1 ? '' : '\n'}${draft.length > 1 && !isItem(line) ? '\n' : ''}${line}` })
    },
  }
  const isUnderstood = await answerByRules(understood, asked)
  await record(app, actor, isWorded ? 'model' : 'built_in', questions.at(-1) ?? '')
  if (isWorded) {
    // A model may find the answer in more facts than the rules know a question for.
    if (!isUnderstood) for (const intent of [overview, worstIssues]) await intent.answer(asked)
    await word(app, actor, body, { asked, draft, signal, emit })
  }
  const { written } = understood.question
  if (projectId !== null && WANTS_STATEMENT.test(written)) {
    const question = written.replace(WANTS_STATEMENT, ' ')
    const statement = await offerStatement(app, actor, { projectId, question, now: app.clock.now() })
    if (statement !== null) emit({ delta: `\n\n\`\`\`sql\n${statement}\n\`\`\`` })
  }
  for (const source of facts.sources) emit({ source })
}

/** A statement for the question, which the guard permits and nothing runs; null when there is none. */
async function offerStatement(app: App, actor: OrgActor, asked: AskedQuestion): Promise<string | null> {
  try {
    const { sql } = await writeStatement(app, actor, asked)
    const { written } = await guardStatement(sql, asked.projectId)
    return written.includes('```') ? null : written
  } catch (error) {
    if (
      error instanceof RefusedStatement ||
      (error instanceof AppError && ['invalid', 'rate_limited'].includes(error.code))
    )
      return null
    throw error
  }
}

/** Questions that one may continue. */
const MAX_CONTINUED = 6

const isItem = (line: string): boolean => line.startsWith('- ')

/** Lets the model word the facts; beyond the bounds of the organisation the rules say them. */
async function word(
  app: App,
  actor: OrgActor,
  { messages }: Body,
  {
    asked,
    draft,
    signal,
    emit,
  }: {
    readonly asked: Asked
    readonly draft: readonly string[]
    readonly signal: AbortSignal
    readonly emit: (event: AnswerEvent) => void
  },
): Promise<void> {
  const text = draft.map((line, index) => (index === 0 || isItem(line) ? line : `\n${line}`)).join('\n')
  try {
    await wordByModel(app, actor, {
      messages,
      sources: asked.facts.sources,
      draft: text,
      signal,
      onDelta: (delta) => emit({ delta }),
    })
  } catch (error) {
    if (error instanceof ModelError) emit({ error: error.message })
    else if (error instanceof AppError && error.code === 'rate_limited')
      emit({ delta: `${text}\n\n${error.message} So this was answered by rules.` })
    else throw error
  }
}

/** The issue or release beside which the question was asked stands for the one that it does not name. */
async function withSubject(understood: Understood, { about, messages }: Body, facts: Facts): Promise<Understood> {
  const { question, intent } = understood
  const now = facts.now
  if (about?.issue_id !== undefined && question.issue === null && question.releases.length === 0) {
    const issue = await facts.read('readIssue', IssueDetail, { params: { issueId: about.issue_id }, query: {} })
    const isAboutIt =
      intent === null ||
      ['overview', 'worst_issues', 'affected_users', 'volume', 'release_health'].includes(intent.name)
    if (issue !== null && (isAboutIt || /\b(?:it|this|that)\b/.test(question.text))) return about_(issue.short_id)
  }
  if (about?.release_id !== undefined && question.releases.length === 0) {
    const release = await facts.read('readRelease', Release, { params: { releaseId: about.release_id }, query: {} })
    if (release !== null) return about_(release.version)
  }
  return understood

  /** The question again, with its subject. */
  function about_(name: string): Understood {
    const questions = messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []))
    const last = questions.pop() ?? ''
    return understand(
      [...questions.slice(1 - MAX_CONTINUED), `${last} (${/@|^\d+$/.test(name) ? 'release ' : ''}${name})`],
      now,
    )
  }
}

/** The projects of the question: the one of the request, the one that its words name, or all. */
function scopeOf(
  all: readonly Project[],
  projectId: string | undefined,
  { question }: Understood,
): Pick<Asked, 'projects' | 'projectId'> {
  if (projectId !== undefined) {
    const known = all.find(({ id }) => id === projectId)
    return { projectId, projects: [known ?? { id: projectId, name: 'the project', slug: '', platform: '' }] }
  }
  const named = all.filter(({ name, slug }) =>
    [name, slug].some(
      (word) =>
        word.length > 1 &&
        ` ${`${question.text} ${question.written.toLowerCase()}`.replaceAll(/[^\p{L}\p{N}_-]+/gu, ' ')} `.includes(
          ` ${word.toLowerCase()} `,
        ),
    ),
  )
  const [only] = named
  return only !== undefined && named.length === 1
    ? { projectId: only.id, projects: named }
    : { projectId: null, projects: all }
}

const record = (app: App, actor: OrgActor, source: 'built_in' | 'model', question: string): Promise<void> =>
  app.tx((tx) =>
    recordFacts(tx, factContext(app, actor), [
      {
        kind: 'assistant.asked',
        orgId: actor.orgId,
        data: { source, ...(app.config.ai.keepsTexts ? { question } : {}) },
      },
    ]),
  )
