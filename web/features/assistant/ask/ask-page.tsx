import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { AskSearch } from '../../../address/search.ts'
import { askHintsQuery, assistantQuery } from '../../../api/assistant-queries.ts'
import { issueQuery } from '../../../api/issue-queries.ts'
import { meQuery } from '../../../api/queries.ts'
import { releaseQuery } from '../../../api/release-queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { appTexts } from '../../../app/texts.ts'
import { RELEASE_RANGE } from '../../../address/search.ts'
import { shortVersion } from '../../../subjects/issue/trend.ts'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatClock } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Spacer } from '../../../ui/stack.tsx'
import { Minor } from '../../../ui/text.tsx'
import typeStyles from '../../../ui/type.module.css'
import { AnswerText } from './answer.tsx'
import { AskComposer } from './composer.tsx'
import {
  announced,
  ask,
  askAgain,
  shownText,
  startNew,
  stopAnswer,
  useConversation,
  type Exchange,
} from './conversation.ts'
import { exampleQuestions, withoutMarks } from './model.ts'
import { AnswerSources, type Opened } from './sources.tsx'
import { askTexts as texts } from './texts.ts'
import styles from './ask-page.module.css'

const route = getRouteApi('/signed-in/shell/ask')

/** Questions in plain language, answered with figures that name their sources. */
export function AskPage() {
  const search = route.useSearch()
  const me = useQuery(meQuery).data
  const exchanges = useConversation(me === undefined ? null : `${me.org.id} ${me.user.id}`)
  const last = exchanges.at(-1)
  const isRunning = last?.state === 'running'
  const title = exchanges[0]?.question ?? texts.title
  usePageTitle(title)

  const about =
    search.issue !== undefined
      ? { issue_id: search.issue }
      : search.release !== undefined
        ? { release_id: search.release }
        : undefined
  const send = (question: string) =>
    void ask(question, {
      ...(search.project === undefined ? {} : { project_id: search.project }),
      ...(about === undefined ? {} : { about }),
    })
  useKeys([
    { keys: 'n', label: texts.keys.new, group: 'Page', run: startNew },
    ...(isRunning
      ? [{ keys: 'escape', label: texts.keys.stop, group: 'Page' as const, run: stopAnswer, whileTyping: true }]
      : []),
    ...(last !== undefined && isBroken(last)
      ? [{ keys: '.', label: texts.goOn, group: 'Page' as const, run: () => void askAgain() }]
      : []),
  ])

  // A figure opens its source; by default the sources of the newest answer are shown.
  const [opened, setOpened] = useState<{ exchange: number; source: Opened }>({ exchange: 0, source: null })
  const shown = exchanges.find(({ id }) => id === opened.exchange) ?? last
  const onOpen = useCallback(
    (exchange: number, n: number) =>
      setOpened((before) => ({ exchange, source: { n, at: (before.source?.at ?? 0) + 1 } })),
    [],
  )
  return (
    <PageMain className={styles.page}>
      <div className={styles.columns}>
        <div className={styles.chat}>
          <header className={styles.head}>
            <h1 className={fitStyles.ellipsis}>{title}</h1>
            <Spacer />
            {exchanges.length === 0 ? null : (
              <Button icon="plus" keys="n" title={texts.newHint} onClick={startNew}>
                {texts.new}
              </Button>
            )}
          </header>
          <Messages exchanges={exchanges} onOpen={onOpen}>
            {exchanges.length === 0 ? (
              <div className={styles.empty}>
                <Icon name="spark" />
                <h2>{texts.emptyTitle}</h2>
                <p>{texts.emptyText}</p>
              </div>
            ) : null}
          </Messages>
          <div className={styles.foot}>
            <AskComposer
              key={search.q ?? ''}
              draft={search.q ?? ''}
              isRunning={isRunning}
              onSend={send}
              onStop={stopAnswer}
            >
              <About search={search} />
              <Source />
            </AskComposer>
            {exchanges.length === 0 ? <Examples search={search} onAsk={send} /> : null}
          </div>
          <p className={typeStyles.hidden} role="status">
            {announced(last)}
          </p>
        </div>
        {exchanges.length === 0 ? null : (
          <AnswerSources
            key={shown?.id}
            sources={shown?.sources ?? []}
            opened={shown?.id === opened.exchange ? opened.source : null}
          />
        )}
      </div>
    </PageMain>
  )
}

const isBroken = ({ state }: Exchange): boolean => state === 'cut' || state === 'failed'

type MessagesProps = {
  exchanges: readonly Exchange[]
  onOpen: (exchange: number, n: number) => void
  children: React.ReactNode
}

/** The page follows a growing answer only while its end is in view. */
function Messages({ exchanges, onOpen, children }: MessagesProps) {
  const end = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(true)
  useEffect(() => {
    if (end.current === null) return undefined
    const watch = new IntersectionObserver(([entry]) => (isAtEnd.current = entry?.isIntersecting === true))
    watch.observe(end.current)
    return () => watch.disconnect()
  }, [])
  const count = exchanges.length
  // A new question comes into view, wherever the page was.
  useLayoutEffect(() => {
    if (count > 0) end.current?.scrollIntoView({ block: 'end' })
  }, [count])
  useLayoutEffect(() => {
    if (isAtEnd.current && count > 0) end.current?.scrollIntoView({ block: 'end' })
  }, [exchanges, count])
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.messages} role="region" aria-label={texts.conversation} tabIndex={0}>
      {children}
      {exchanges.map((exchange, index) => (
        <Answered key={exchange.id} exchange={exchange} isLast={index === count - 1} onOpen={onOpen} />
      ))}
      <div ref={end} className={styles.end} />
    </div>
  )
}

type AnsweredProps = { exchange: Exchange; isLast: boolean; onOpen: (exchange: number, n: number) => void }

function Answered({ exchange, isLast, onOpen }: AnsweredProps) {
  const { id, question, state, sources, error, place } = exchange
  const text = shownText(exchange)
  const isRunning = state === 'running'
  const open = useCallback((n: number) => onOpen(id, n), [id, onOpen])
  return (
    <>
      <article className={styles.question}>
        <h2 className={typeStyles.hidden}>{texts.you}</h2>
        <p>{question}</p>
      </article>
      <article className={styles.answer}>
        <Icon name="spark" />
        <div className={styles.body}>
          <h2 className={typeStyles.hidden}>{texts.assistant}</h2>
          {text === '' && isRunning ? <Minor as="p">{texts.reading}</Minor> : null}
          <AnswerText text={text} known={sources} isDone={!isRunning} projectId={place.project_id} onOpen={open} />
          {isRunning ? null : (
            <footer className={fitStyles.wrapsCentred}>
              {state === 'done' || state === 'stopped' ? null : <Icon name="warn" className={typeStyles.amber} />}
              <Minor>
                {error ?? texts.ends[state]} {sources.length === 0 ? '' : sourcesLine(exchange)}
              </Minor>
              <Spacer />
              {isLast && isBroken(exchange) ? (
                <Button size="sm" keys="." onClick={() => void askAgain()}>
                  {text === '' ? texts.tryAgain : texts.goOn}
                </Button>
              ) : null}
              {text === '' ? null : (
                <CopyButton iconOnly text={withoutMarks(text)} said={texts.copied}>
                  {texts.copy}
                </CopyButton>
              )}
            </footer>
          )}
        </div>
      </article>
    </>
  )
}

const sourcesLine = ({ sources }: Exchange): string =>
  texts.sourceCount(sources.length, formatClock(sources.map(({ as_of }) => as_of).toSorted()[0] ?? ''))

/** The subject of the questions, with the way back to everything. */
function About({ search: { issue: issueId, release: releaseId } }: { search: AskSearch }) {
  const navigate = route.useNavigate()
  const issue = useQuery({ ...issueQuery(issueId ?? '', 'latest'), enabled: issueId !== undefined })
  const release = useQuery({ ...releaseQuery(releaseId ?? '', RELEASE_RANGE, null), enabled: releaseId !== undefined })
  if (issueId === undefined && releaseId === undefined) return null
  const name =
    issueId === undefined
      ? release.data === undefined
        ? texts.aboutRelease
        : shortVersion(release.data.version)
      : (issue.data?.short_id ?? texts.aboutIssue)
  return (
    <Button
      size="sm"
      icon="x"
      title={texts.notAbout}
      onClick={() => void navigate({ search: (before) => ({ ...before, issue: undefined, release: undefined }) })}
    >
      {texts.about(name)}
    </Button>
  )
}

/** Who words the answers. */
function Source() {
  const { data } = useQuery(assistantQuery)
  return (
    <Minor className={classNames(typeStyles.links, styles.source)}>
      {data === undefined ? texts.readOnly : data.model === null ? texts.builtIn : texts.model(data.model)}{' '}
      <Link {...paths.assistant()}>{texts.state}</Link>
    </Minor>
  )
}

function Examples({ search, onAsk }: { search: AskSearch; onAsk: (question: string) => void }) {
  const hints = useQuery(askHintsQuery(search.project ?? null))
  if (hints.isPending) return <div className={styles.examples} aria-busy="true" aria-label={appTexts.loading} />
  const { regressed = 0, issues = [], releases = [] } = hints.data ?? {}
  const questions =
    search.issue !== undefined
      ? texts.exampleOf.issue
      : search.release !== undefined
        ? texts.exampleOf.release
        : exampleQuestions({ regressed, issues, releases: releases.map(shortVersion) }, texts.example)
  return (
    <ul className={styles.examples} aria-label={texts.examples}>
      {questions.map((question) => (
        <li key={question}>
          <Button size="sm" onClick={() => onAsk(question)}>
            {question}
          </Button>
        </li>
      ))}
    </ul>
  )
}
