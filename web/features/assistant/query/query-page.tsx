import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useState, type KeyboardEvent, type SyntheticEvent } from 'react'
import { paths } from '../../../address/paths.ts'
import type { QuerySearch } from '../../../address/search.ts'
import { assistantQuery, resultQuery, type Asked } from '../../../api/assistant-queries.ts'
import { ApiError } from '../../../api/call.ts'
import { appTexts } from '../../../app/texts.ts'
import { ChooseProject, useProjectTitle } from '../../../frames/choose-project.tsx'
import { QueryError } from '../../../frames/query-error.tsx'
import { SetupStatements } from '../../../subjects/assistant/setup-statements.tsx'
import promptStyles from '../../../subjects/assistant/prompt.module.css'
import { Button } from '../../../ui/button.tsx'
import { Card } from '../../../ui/card.tsx'
import { classNames } from '../../../ui/class-names.ts'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Segmented } from '../../../ui/segmented.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { changesData, findMistake } from './model.ts'
import { Result } from './result.tsx'
import { SavedQueries } from './saved.tsx'
import { queryTexts as texts } from './texts.ts'
import styles from './query-page.module.css'

const route = getRouteApi('/signed-in/shell/query')

/** A table from a question or a typed statement. */
export function QueryPage() {
  const search = route.useSearch()
  useProjectTitle(texts.title, search.project)
  if (search.project === undefined)
    return (
      <PageMain>
        <Head />
        <ChooseProject search={search} pageOf={paths.query} />
      </PageMain>
    )
  return (
    <PageMain>
      <Query key={search.project} projectId={search.project} search={search} />
    </PageMain>
  )
}

const Head = ({ children }: { children?: React.ReactNode }) => (
  <PageHead actions={children}>
    <div>
      <h1>{texts.title}</h1>
      <p>{texts.lead}</p>
    </div>
  </PageHead>
)

const askedOf = ({ q, sql }: QuerySearch): Asked | null =>
  sql !== undefined ? { sql } : q === undefined ? null : { query: q }

const textOf = (asked: Asked | null): string => (asked === null ? '' : 'sql' in asked ? asked.sql : asked.query)

function Query({ projectId, search }: { projectId: string; search: QuerySearch }) {
  const navigate = route.useNavigate()
  const client = useQueryClient()
  const state = useQuery(assistantQuery)
  const asked = askedOf(search)
  // Runs on request only; what ran before is shown again after Back.
  const result = useQuery({ ...resultQuery(projectId, asked ?? { query: '' }), enabled: false })
  const [edits, setEdits] = useState(0)
  const write = (next: Asked) =>
    void navigate({
      search: (before) => ({
        ...before,
        q: 'query' in next ? next.query : undefined,
        sql: 'sql' in next ? next.sql : undefined,
      }),
    })
  const run = (next: Asked) => {
    write(next)
    void client.query(resultQuery(projectId, next)).catch(() => undefined)
  }
  const edit = (sql: string) => {
    write({ sql })
    setEdits(edits + 1)
  }
  if (state.data?.query.available === false)
    return (
      <>
        <Head />
        <Card title={texts.what}>
          <SetupStatements query={state.data.query} />
        </Card>
      </>
    )
  return (
    <>
      <Head>
        <SavedQueries projectId={projectId} onRun={run} />
      </Head>
      <div className={fitStyles.column}>
        <Form key={`${textOf(asked)} ${edits}`} asked={asked} isRunning={result.isFetching} onRun={run} />
        {result.isFetching ? (
          <Skeleton heightPx={320} label={appTexts.loading} />
        ) : asked !== null && result.error !== null ? (
          <Refusal asked={asked} error={result.error} onRetry={() => run(asked)} />
        ) : asked !== null && result.data !== undefined ? (
          <Result projectId={projectId} asked={asked} result={result.data} onEdit={edit} />
        ) : (
          <Start onRun={run} />
        )}
      </div>
    </>
  )
}

type FormProps = { asked: Asked | null; isRunning: boolean; onRun: (asked: Asked) => void }

function Form({ asked, isRunning, onRun }: FormProps) {
  const [mode, setMode] = useState<'query' | 'sql'>(asked !== null && 'sql' in asked ? 'sql' : 'query')
  const [text, setText] = useState(textOf(asked))
  const isQuestion = mode === 'query'
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    if (text.trim() !== '' && !isRunning) onRun(isQuestion ? { query: text.trim() } : { sql: text.trim() })
  }
  const onKeyDown = (event: KeyboardEvent) => {
    // A question is one line; a statement has lines.
    if (event.key !== 'Enter' || event.nativeEvent.isComposing) return
    if (isQuestion ? !event.shiftKey : event.ctrlKey || event.metaKey) submit(event)
  }
  return (
    <form className={classNames(promptStyles.prompt, styles.form)} onSubmit={submit}>
      <Icon name={isQuestion ? 'spark' : 'query'} className={typeStyles.accent} />
      <textarea
        rows={isQuestion ? 1 : 3}
        value={text}
        maxLength={isQuestion ? 2_000 : 8_000}
        spellCheck={isQuestion}
        aria-label={isQuestion ? texts.askFor : texts.typeSelect}
        placeholder={isQuestion ? texts.questionPlaceholder : texts.selectPlaceholder}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <Button look="primary" type="submit" keys={isQuestion ? 'enter' : 'mod+enter'} busy={isRunning}>
        {texts.run}
      </Button>
      <div className={classNames(fitStyles.wrapsCentred, fitStyles.wholeRow)}>
        <Segmented
          size="sm"
          label={texts.mode}
          value={mode}
          options={[
            { value: 'query', label: texts.question },
            { value: 'sql', label: texts.select },
          ]}
          onChange={setMode}
        />
        <Minor>{texts.limits}</Minor>
      </div>
    </form>
  )
}

/** Why a question or statement has no result: in its place, with what was asked. */
function Refusal({ asked, error, onRetry }: { asked: Asked; error: Error; onRetry: () => void }) {
  if (!(error instanceof ApiError) || error.status !== 400)
    return (
      <Card>
        <QueryError what={texts.what} error={error} onRetry={onRetry} />
      </Card>
    )
  const text = textOf(asked)
  const mistake = 'query' in asked ? findMistake(error.queryMistake, text) : null
  const sentence = error.message.replace(/^(?:query|sql): /, '')
  const isChange = 'sql' in asked && changesData(asked.sql)
  return (
    <Card title={'sql' in asked ? texts.refused : texts.notUnderstood}>
      <p className={fitStyles.inset12} role="alert">
        {isChange && !sentence.includes(texts.change) ? `${texts.change} ` : ''}
        {sentence}
      </p>
      <pre className={styles.sql}>
        <code>
          {mistake === null ? (
            text
          ) : (
            <>
              {mistake.before}
              <mark data-mistake>{mistake.marked}</mark>
              {mistake.after}
            </>
          )}
        </code>
      </pre>
    </Card>
  )
}

/** Questions that work, and the views that can be read. */
function Start({ onRun }: { onRun: (asked: Asked) => void }) {
  return (
    <div className={classNames(fitStyles.columns, styles.start)}>
      <Card title={texts.examples}>
        <ul className={classNames(styles.examples, fitStyles.ruled)}>
          {texts.exampleList.map((query) => (
            <li key={query}>
              <Button look="ghost" onClick={() => onRun({ query })}>
                {query}
              </Button>
            </li>
          ))}
        </ul>
      </Card>
      <Card title={texts.views}>
        <Minor as="p" className={fitStyles.inset10}>
          {texts.viewsMore}
        </Minor>
        <dl className={classNames(styles.views, fitStyles.divided)}>
          {texts.viewList.map(([name, about, columns]) => (
            <div key={name}>
              <dt>
                <code>{name}</code> <Minor>{about}</Minor>
              </dt>
              <dd>
                <code>{columns.replaceAll(' ', ', ')}</code>
              </dd>
            </div>
          ))}
        </dl>
      </Card>
    </div>
  )
}
