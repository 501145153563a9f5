import { toggleValue, requiredValues, valueText } from '#shared/query-terms.ts'
import { useInfiniteQuery, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useRef, useState, type ReactNode } from 'react'
import { carried, paths } from '../../../../address/paths.ts'
import { eventsQuery, issueReleasesQuery, sharesQuery, type EventRow } from '../../../../api/issue-event-queries.ts'
import { issueEventQuery } from '../../../../api/issue-queries.ts'
import { splitTitle } from '../../../../subjects/issue/headline.ts'
import { recalledStream } from '../../../../subjects/issue/stream-memory.ts'
import { shortVersion } from '../../../../subjects/issue/trend.ts'
import { useKeys } from '../../../../app/keys.ts'
import { usePageProject } from '../../../../app/page-project.ts'
import { usePageTitle } from '../../../../app/page-title.ts'
import { usePrefs } from '../../../../app/prefs.ts'
import { parseQueryMistake, type QueryMistake } from '../../../../subjects/query/mistake.ts'
import { QueryField } from '../../../../subjects/query/query-field.tsx'
import type { QuerySource } from '../../../../subjects/query/source.ts'
import { MoreButton } from '../../../../frames/more-button.tsx'
import { PageQuery } from '../../../../frames/page-query.tsx'
import { Button, IconButton } from '../../../../ui/button.tsx'
import { Card, CardFooter } from '../../../../ui/card.tsx'
import choiceStyles from '../../../../ui/choice.module.css'
import { Crumbs } from '../../../../ui/crumbs.tsx'
import { EmptyState } from '../../../../ui/empty-state.tsx'
import fitStyles from '../../../../ui/fit.module.css'
import { formatCount, formatExact } from '../../../../ui/format.ts'
import { Icon } from '../../../../ui/icon.tsx'
import { Menu, type MenuEntry } from '../../../../ui/menu.tsx'
import { PageHead } from '../../../../ui/page-head.tsx'
import { PageMain } from '../../../../ui/page-main.tsx'
import { DataTable, type Column as DataColumn } from '../../../../ui/data-table.tsx'
import { Minor, ShortId } from '../../../../ui/text.tsx'
import { issueTexts } from '../texts.ts'
import { columnCell, chosenColumns, listColumns, defaultColumns, type Column } from './columns.ts'
import { eventsTexts } from './texts.ts'
import styles from './events-page.module.css'
import typeStyles from '../../../../ui/type.module.css'

const route = getRouteApi('/signed-in/shell/issues/$issueId/events')

/** The stored events of an issue, with a filter; each links to its issue page. */
export function IssueEventsPage() {
  const { issueId } = route.useParams()
  const search = route.useSearch()
  const only = search.only ?? ''
  const navigate = route.useNavigate()
  usePrefs()
  const [back] = useState(() => recalledStream() ?? {})
  const issue = useQuery(issueEventQuery(issueId, 'latest')).data
  usePageProject(issue?.project_id ?? null)
  usePageTitle(issue === undefined ? null : eventsTexts.pageTitle(issue.short_id))
  const list = useInfiniteQuery(eventsQuery(issueId, only))
  const mistake = parseQueryMistake(list.error)
  const pages = list.data?.pages ?? []
  const rows = pages.flatMap((page) => page.items)
  const [first] = pages
  const columns = search.column === undefined ? defaultColumns(first?.items ?? []) : chosenColumns(rows, search.column)
  const filter = (next: string) =>
    void navigate({
      search: (before) => ({ ...before, only: next === '' ? undefined : next }),
      replace: true,
      resetScroll: false,
    })
  const choose = (next: readonly string[] | undefined) =>
    void navigate({
      search: (before) => ({ ...before, column: next === undefined ? undefined : [...next] }),
      replace: true,
      resetScroll: false,
    })
  useKeys([
    {
      keys: 'u',
      label: issueTexts.keys.issue,
      group: 'Page',
      run: () => void navigate(paths.issue(issueId, carried(search))),
    },
  ])
  return (
    <PageMain>
      <Crumbs label={issueTexts.trail} list={<Link {...paths.issues(back)}>{issueTexts.issues}</Link>}>
        <Link {...paths.issue(issueId, carried(search))}>
          {issue === undefined ? issueTexts.what : <ShortId>{issue.short_id}</ShortId>}
        </Link>
        <Icon name="right" />
        <span>{eventsTexts.crumb}</span>
      </Crumbs>
      <PageHead>
        <div className={fitStyles.shrinks}>
          <h1>{eventsTexts.title}</h1>
          <p className={fitStyles.ellipsis}>
            {issue === undefined ? null : (
              <>
                {splitTitle(issue).name} {splitTitle(issue).rest}
              </>
            )}
          </p>
        </div>
      </PageHead>
      <Filters issueId={issueId} only={only} mistake={mistake} onFilter={filter}>
        <ColumnsMenu rows={rows} shown={columns} isChosen={search.column !== undefined} onChoose={choose} />
      </Filters>
      {list.data === undefined && mistake !== null ? (
        <Minor as="p">{eventsTexts.unreadable}</Minor>
      ) : (
        <PageQuery query={list} what={eventsTexts.what}>
          {() => (
            <Card as="div" aria-busy={list.isPlaceholderData}>
              {rows.length === 0 ? (
                <EmptyState
                  kind={only === '' ? 'setup' : 'filtered'}
                  heading="h2"
                  title={only === '' ? eventsTexts.noneStored : eventsTexts.noneMatch}
                  actions={only === '' ? undefined : <Button onClick={() => filter('')}>{eventsTexts.clear}</Button>}
                >
                  {only === '' ? eventsTexts.noneStoredText : eventsTexts.noneMatchText(only)}
                </EmptyState>
              ) : (
                <EventTable
                  rows={rows}
                  columns={columns}
                  issueId={issueId}
                  search={{ ...carried(search), only: search.only }}
                />
              )}
              <CardFooter
                note={
                  only === ''
                    ? (first?.total_capped === true ? eventsTexts.storedOver : eventsTexts.stored)(
                        formatCount(first?.total ?? 0),
                      )
                    : eventsTexts.searched(pages.reduce((sum, page) => sum + page.looked_at, 0))
                }
              >
                <MoreButton list={list}>{only === '' ? eventsTexts.more : eventsTexts.searchOlder}</MoreButton>
              </CardFooter>
            </Card>
          )}
        </PageQuery>
      )}
    </PageMain>
  )
}

type FiltersProps = {
  issueId: string
  only: string
  mistake: QueryMistake | null
  onFilter: (only: string) => void
  children: ReactNode
}

const LEVELS = ['fatal', 'error', 'warning', 'info', 'debug']
/** So many values of a menu; others can be typed. */
const MAX_VALUES = 12

/** Keys by which events are filtered, beside their tags. */
const KEYS = ['release', 'environment', 'level', 'user'] as const

/** Suggests the values that events of the issue share, and the tags' keys. */
const eventTermsOf = (client: QueryClient, issueId: string): QuerySource => ({
  id: `events ${issueId}`,
  unit: 'event',
  suggest: async (key, prefix) => {
    const { items } = await client.query({ ...sharesQuery(issueId), staleTime: 'static' })
    const wanted = prefix.toLowerCase()
    if (key === null) {
      const keys = [...new Set<string>([...KEYS, ...items.map((share) => share.key)])]
      const fitting = keys.filter((one) => one.startsWith(wanted))
      return { items: fitting.map((one) => ({ text: one, count: null, label: labelOf(one) })), newest: null }
    }
    const levels = key === 'level' ? LEVELS.map((value) => ({ key, value, count: null })) : []
    const values = [...items, ...levels].filter((one) => one.key === key && one.value.toLowerCase().startsWith(wanted))
    return {
      items: values.map(({ value, count }) => ({
        text: valueText(value),
        count,
        label: valueText(value) === value ? null : value,
      })),
      newest: null,
    }
  },
})

function labelOf(key: string): string | null {
  const known = KEYS.find((one) => one === key)
  return known === undefined ? null : eventsTexts.keys[known]
}

/** The query, and menus that put the most common values into it. */
function Filters({ issueId, only, mistake, onFilter, children }: FiltersProps) {
  const client = useQueryClient()
  const input = useRef<HTMLInputElement>(null)
  const releases = useQuery(issueReleasesQuery(issueId)).data?.items ?? []
  const shares = useQuery(sharesQuery(issueId)).data?.items ?? []
  const commonOf = (key: string) => shares.filter((share) => share.key === key).map(({ value }) => value)
  const menus = [
    { key: 'release', values: releases.flatMap(({ release }) => (release === null ? [] : [release])) },
    { key: 'environment', values: commonOf('environment') },
    { key: 'level', values: LEVELS },
  ] as const
  return (
    <div className={styles.filters} role="search">
      <QueryField
        label={eventsTexts.only}
        placeholder={eventsTexts.onlyHint}
        list="events"
        query={only}
        onSearch={onFilter}
        source={eventTermsOf(client, issueId)}
        mistake={mistake}
        inputRef={input}
        end={() =>
          only === '' ? null : (
            <IconButton
              look="ghost"
              size="sm"
              icon="x"
              label={eventsTexts.clear}
              onClick={() => {
                onFilter('')
                // The button goes.
                input.current?.focus()
              }}
            />
          )
        }
      />
      {menus.map(({ key, values }) => (
        <Menu
          key={key}
          label={eventsTexts.columns[key]}
          entries={values.slice(0, MAX_VALUES).map((value): MenuEntry => {
            return {
              label: key === 'release' ? shortVersion(value) : value,
              ...(key === 'release' ? { note: value } : {}),
              checked: requiredValues(only, [key]).includes(value),
              onSelect: () => onFilter(toggleValue(only, [key], value)),
            }
          })}
          trigger={
            <Button caret why={values.length === 0 ? eventsTexts.noValues : undefined}>
              {eventsTexts.columns[key]}
            </Button>
          }
        />
      ))}
      {children}
    </div>
  )
}

type ColumnsMenuProps = {
  rows: readonly EventRow[]
  shown: readonly Column[]
  isChosen: boolean
  onChoose: (ids: readonly string[] | undefined) => void
}

/** Which columns the table has. */
function ColumnsMenu({ rows, shown, isChosen, onChoose }: ColumnsMenuProps) {
  const ids = shown.map(({ id }) => id)
  const others = shown.filter(({ id }) => !listColumns(rows).some((column) => column.id === id))
  return (
    <Menu
      label={eventsTexts.columnsMenu}
      align="end"
      entries={[
        ...[...listColumns(rows), ...others].map((column): MenuEntry => ({
          label: headOfColumn(column),
          checked: ids.includes(column.id),
          onSelect: () =>
            onChoose(ids.includes(column.id) ? ids.filter((id) => id !== column.id) : [...ids, column.id]),
        })),
        { kind: 'separator' },
        {
          label: eventsTexts.defaultColumns,
          why: isChosen ? undefined : eventsTexts.areDefault,
          onSelect: () => onChoose(undefined),
        },
      ]}
      trigger={<Button caret>{eventsTexts.columnsMenu}</Button>}
    />
  )
}

const headOfColumn = ({ fixed, tag }: Column): string =>
  fixed === null ? eventsTexts.tagColumn(tag ?? '') : eventsTexts.columns[fixed]

type EventTableProps = {
  rows: readonly EventRow[]
  columns: readonly Column[]
  issueId: string
  search: Parameters<typeof paths.issue>[1]
}

function EventTable({ rows, columns, issueId, search }: EventTableProps) {
  return (
    <DataTable
      scrollLabel={eventsTexts.title}
      className={styles.table}
      rows={rows}
      keyOf={(row) => row.event_id}
      columns={[
        {
          head: eventsTexts.columns.time,
          className: styles.time,
          cell: (row) => (
            <Link {...paths.issue(issueId, { ...search, event: row.event_id })} className={choiceStyles.underlines}>
              <time dateTime={row.occurred_at}>{formatExact(row.occurred_at)}</time>
            </Link>
          ),
        },
        ...columns.map((column): DataColumn<EventRow> => ({
          head: column.fixed === null ? column.tag : eventsTexts.columns[column.fixed],
          headClass: column.fixed === null ? typeStyles.mono : undefined,
          className: styles.cell,
          title: (row) => columnCell(row, column).title || null,
          cell: (row) =>
            column.fixed === 'event' && row.title === null ? (
              <span className={typeStyles.quiet}>{eventsTexts.damaged}</span>
            ) : (
              columnCell(row, column).text
            ),
        })),
      ]}
    />
  )
}
