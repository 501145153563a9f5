import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { paths } from '../../../address/paths.ts'
import type { FeedbackSearch } from '../../../address/search.ts'
import { inboxQuery } from '../../../api/feedback-queries.ts'
import { useLive } from '../../../api/live.ts'
import { projectsQuery } from '../../../api/queries.ts'
import { useKeys } from '../../../app/keys.ts'
import { rowKeys } from '../../../app/row-keys.ts'
import { usePageTitle } from '../../../app/page-title.ts'
import { usePrefs } from '../../../app/prefs.ts'
import { MoreFoot } from '../../../frames/more-button.tsx'
import { PageQuery } from '../../../frames/page-query.tsx'
import { buttonLook } from '../../../ui/button.tsx'
import { Card, CardFooter } from '../../../ui/card.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { EmptyState } from '../../../ui/empty-state.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { Icon } from '../../../ui/icon.tsx'
import { Kbd } from '../../../ui/kbd.tsx'
import { Note } from '../../../ui/note.tsx'
import { PageHead } from '../../../ui/page-head.tsx'
import { PageMain } from '../../../ui/page-main.tsx'
import { Minor } from '../../../ui/text.tsx'
import { useThrottled } from '../../../ui/throttled.ts'
import typeStyles from '../../../ui/type.module.css'
import viewStyles from '../../../ui/views.module.css'
import { MessageDetail } from './message-detail.tsx'
import { MessageRow } from './message-row.tsx'
import { findNeighbour } from './model.ts'
import { feedbackTexts as texts } from './texts.ts'
import styles from './feedback-page.module.css'

const route = getRouteApi('/signed-in/shell/feedback')

const REFRESH_MS = 1_000

/** The inbox of feedback: the list, and beside it the message. On phones one of the two. */
export function FeedbackPage() {
  const search = route.useSearch()
  const projects = useQuery(projectsQuery)
  const project = projects.data?.items.find(({ id }) => id === search.project)
  usePageTitle(project === undefined ? texts.title : `${texts.title}, ${project.name}`)
  usePrefs()
  useFreshFeedback()
  return (
    <PageMain>
      <Inbox search={search} />
    </PageMain>
  )
}

function useFreshFeedback() {
  const client = useQueryClient()
  const again = useThrottled(REFRESH_MS, () => client.invalidateQueries({ queryKey: ['feedback'] }))
  useLive((messages) => {
    if (messages.some(({ kind }) => kind === 'feedback')) again()
  })
}

function Inbox({ search }: { search: FeedbackSearch }) {
  const navigate = route.useNavigate()
  const list = useInfiniteQuery({ ...inboxQuery(search), meta: { quiet: true } })
  const pages = list.data?.pages
  const messages = pages?.flatMap(({ items }) => items) ?? []
  const ids = messages.map(({ id }) => id)
  const shownId = search.id ?? ids[0]
  const choose = (id: string | undefined) => void navigate({ search: (before) => ({ ...before, id }), replace: true })
  const step = (by: number) => {
    const at = shownId === undefined ? -1 : ids.indexOf(shownId)
    const next = search.id === undefined ? ids[0] : ids[at + by]
    if (next === undefined) return
    choose(next)
    document.querySelector(`[data-message="${next}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys(rowKeys(texts, step))
  const first = pages?.[0]
  return (
    <>
      <div className={search.id === undefined ? undefined : styles.headOfOne}>
        <PageHead className={viewStyles.head} actions={<SearchField key={search.q} search={search} />}>
          <h1>{texts.title}</h1>
          <nav className={classNames(viewStyles.views, choiceStyles.choices)} aria-label={texts.views}>
            {(['inbox', 'mine', 'resolved', 'spam'] as const).map((name) => {
              const view = name === 'inbox' ? undefined : name
              const count = name === 'resolved' ? undefined : first?.counts[name]
              const { project, q } = search
              return (
                <Link
                  key={name}
                  {...paths.feedback({ project, q, view })}
                  aria-current={search.view === view && search.issue === undefined ? 'page' : undefined}
                >
                  {texts.view[name]}
                  {count === undefined ? null : (
                    <span className={classNames(viewStyles.count, typeStyles.softInCurrent)}>{texts.count(count)}</span>
                  )}
                </Link>
              )
            })}
          </nav>
        </PageHead>
        {search.issue === undefined ? null : <AboutIssue search={search} shortId={messages[0]?.issue?.short_id} />}
      </div>
      <div
        className={classNames(fitStyles.columns, styles.columns)}
        data-open={search.id === undefined ? undefined : ''}
      >
        <Card className={classNames(styles.list, fitStyles.clips)} aria-label={texts.messages}>
          <PageQuery query={list} what={texts.what} rows={8}>
            {() =>
              messages.length === 0 ? (
                <NoMessages search={search} hasAny={(first?.counts.inbox ?? 0) + (first?.counts.spam ?? 0) > 0} />
              ) : (
                <ul className={fitStyles.ruled}>
                  {messages.map((message) => (
                    <MessageRow key={message.id} message={message} search={search} isShown={message.id === shownId} />
                  ))}
                </ul>
              )
            }
          </PageQuery>
          {first?.search_is_partial === true ? (
            <Note tone="plain" icon="info">
              {texts.partial}
            </Note>
          ) : null}
          <MoreFoot list={list}>{texts.showMore}</MoreFoot>
          {first === undefined || messages.length === 0 ? null : (
            <CardFooter
              note={texts.total(
                first.total,
                first.total_capped === true,
                search.view === undefined && search.issue === undefined ? first.counts.unread : 0,
              )}
            >
              <Minor className={fitStyles.nowrap}>
                <Kbd keys="j" /> <Kbd keys="k" />
              </Minor>
            </CardFooter>
          )}
        </Card>
        <div className={classNames(styles.detail, fitStyles.shrinks)}>
          {shownId === undefined ? null : (
            <MessageDetail
              key={shownId}
              id={shownId}
              isChosen={search.id !== undefined}
              search={search}
              onLeave={() => choose(findNeighbour(ids, shownId))}
            />
          )}
        </div>
      </div>
    </>
  )
}

function SearchField({ search: { q = '' } }: { search: FeedbackSearch }) {
  const navigate = route.useNavigate()
  const [text, setText] = useState(q)
  const field = useRef<HTMLInputElement>(null)
  useKeys([{ keys: '/', label: texts.search, group: 'Page', run: () => field.current?.focus() }])
  return (
    <form
      role="search"
      className={classNames(styles.search, fitStyles.bareInput, choiceStyles.framed)}
      onSubmit={(event) => {
        event.preventDefault()
        const words = text.trim()
        void navigate({
          search: (before) => ({ ...before, q: words === '' ? undefined : words, id: undefined }),
        })
      }}
    >
      <Icon name="search" />
      <input
        ref={field}
        type="search"
        aria-label={texts.search}
        placeholder={texts.searchHint}
        maxLength={200}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <Kbd keys="/" />
    </form>
  )
}

function AboutIssue({ search, shortId }: { search: FeedbackSearch; shortId: string | undefined }) {
  const { issue = '', project } = search
  return (
    <p className={classNames(styles.about, typeStyles.links)}>
      {shortId === undefined ? null : <span>{texts.aboutIssue(shortId)}</span>}
      <Link {...paths.issue(issue, { project })}>{texts.toIssue}</Link>
      <Link {...paths.feedback({ project })}>{texts.showAll}</Link>
    </p>
  )
}

function NoMessages({ search, hasAny }: { search: FeedbackSearch; hasAny: boolean }) {
  if (search.q !== undefined)
    return (
      <EmptyState
        kind="filtered"
        title={texts.emptySearch}
        actions={
          <Link {...paths.feedback({ ...search, q: undefined, id: undefined })} {...buttonLook()}>
            <span>{texts.clearSearch}</span>
          </Link>
        }
      >
        {texts.emptySearchText(search.q)}
      </EmptyState>
    )
  if (search.view !== undefined) return <EmptyState kind="good" title={texts.emptyView[search.view]} />
  return hasAny ? (
    <EmptyState kind="good" title={texts.emptyInbox}>
      {texts.emptyInboxText}
    </EmptyState>
  ) : (
    <EmptyState kind="setup" title={texts.setUp}>
      {texts.setUpText}
    </EmptyState>
  )
}
