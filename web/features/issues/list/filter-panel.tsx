import { platformName } from '#shared/platforms.ts'
import { SEVERITIES } from '#shared/issue-values.ts'
import { useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useRef, useState } from 'react'
import { keysQuery } from '../../../api/suggestion-queries.ts'
import { useShownPlatform } from '../../../subjects/issue/platforms.ts'
import { CheckList } from '../../../forms/check-list.tsx'
import { useAssignees } from './use-assignees.ts'
import type { IssuesSearch } from '../../../address/search.ts'
import { Button } from '../../../ui/button.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { classNames } from '../../../ui/class-names.ts'
import { SelectField } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { PlatformTile } from '../../../ui/platform-tile.tsx'
import { Toolbar } from '../../../ui/stack.tsx'
import { Severity } from '../../../ui/status.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { Minor } from '../../../ui/text.tsx'
import { filterTexts } from './filter-texts.ts'
import {
  chosenAssignee,
  chosenValues,
  cleared,
  isSame,
  filterQueryKey,
  queriedTags,
  withAssignee,
} from './filter-values.ts'
import type { SearchChange } from './filters.tsx'
import { issuesTexts } from './texts.ts'
import { ValueList } from './value-list.tsx'
import styles from './filter-panel.module.css'
import typeStyles from '../../../ui/type.module.css'

type PanelProps = { search: IssuesSearch; onChange: SearchChange }

const LABELS = {
  environment: issuesTexts.environment,
  release: filterTexts.release,
  level: filterTexts.level,
  tag: filterTexts.tag,
  platform: issuesTexts.platform,
  severity: issuesTexts.severity,
  assignee: issuesTexts.assignee,
} as const
type Filter = keyof typeof LABELS
const FILTERS: readonly Filter[] = ['environment', 'release', 'level', 'tag', 'platform', 'severity', 'assignee']

/** The first filter that is set. */
const startOf = (search: IssuesSearch): Filter => FILTERS.find((filter) => countOf(search, filter) > 0) ?? 'environment'

function countOf(search: IssuesSearch, filter: Filter): number {
  if (filter === 'assignee') return chosenAssignee(search) === undefined ? 0 : 1
  return filter === 'tag' ? queriedTags(search).length : chosenValues(search, filter).length
}

/** Filters with a list of their values. They show what the address says, and change it immediately. */
export function FilterPanel({ search, onChange }: PanelProps) {
  const root = useRef<HTMLDivElement>(null)
  // Focusing another tab would select it.
  useLayoutEffect(() => root.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus(), [])
  const [filter, setFilter] = useState(() => startOf(search))
  return (
    <div className={styles.filterpanel} ref={root}>
      <Tabs
        label={filterTexts.by}
        className={classNames(styles.tabs, choiceStyles.chosen, fitStyles.tight)}
        vertical
        value={filter}
        tabs={FILTERS.map((value) => {
          const count = countOf(search, value)
          return {
            value,
            label: LABELS[value],
            after: count === 0 ? null : <Minor className={typeStyles.figures}>{count}</Minor>,
          }
        })}
        onChange={setFilter}
      >
        {filter === 'tag' ? (
          <TagValues search={search} onChange={onChange} />
        ) : filter === 'platform' ? (
          <Platforms search={search} onChange={onChange} />
        ) : filter === 'severity' ? (
          <ValueList
            search={search}
            onChange={onChange}
            filter="severity"
            label={LABELS.severity}
            show={(value) => {
              const severity = SEVERITIES.find((one) => one === value)
              return severity === undefined ? value : <Severity severity={severity} />
            }}
          />
        ) : filter === 'assignee' ? (
          <Assignees search={search} onChange={onChange} />
        ) : (
          <ValueList key={filter} search={search} onChange={onChange} filter={filter} label={LABELS[filter]} />
        )}
      </Tabs>
      <Toolbar align="end" className={fitStyles.wholeRow}>
        <Button size="sm" onClick={() => onChange(cleared(search))}>
          {issuesTexts.clearFilters}
        </Button>
      </Toolbar>
    </div>
  )
}

/** Values of one tag, or another fact of events: those of the query come first. */
function TagValues({ search, onChange }: PanelProps) {
  const found = useQuery(keysQuery(search.project ?? null))
  const used = queriedTags(search)
  const [asked, setAsked] = useState<string | null>(null)
  const others = (found.data ?? []).filter(
    (key) => key !== filterQueryKey('environment') && key !== filterQueryKey('release'),
  )
  const keys = [...new Set([...used, ...others, ...(asked === null ? [] : [asked])])]
  const key = asked ?? keys[0]
  // The shown tag stays when its last value is cleared.
  if (asked === null && key !== undefined) setAsked(key)
  if (key === undefined) return found.isPending ? null : <Minor as="p">{filterTexts.noTags}</Minor>
  return (
    <>
      <SelectField label={filterTexts.tagKey} value={key} onChange={(event) => setAsked(event.target.value)}>
        {keys.map((one) => {
          const count = chosenValues(search, `tag:${one}`).length
          return (
            <option key={one} value={one}>
              {count === 0 ? one : filterTexts.chosen(one, count)}
            </option>
          )
        })}
      </SelectField>
      <ValueList key={key} search={search} onChange={onChange} filter={`tag:${key}`} label={key} />
    </>
  )
}

/** Platforms as rows show them: what an Android app sends in Java and Kotlin is one choice. */
function Platforms({ search, onChange }: PanelProps) {
  const { platformOf } = useShownPlatform(search.project ?? null)
  return (
    <ValueList
      search={search}
      onChange={onChange}
      filter="platform"
      label={LABELS.platform}
      groupOf={platformOf}
      show={(platform) => (
        <>
          <PlatformTile platform={platform} quiet /> {platformName(platform)}
        </>
      )}
    />
  )
}

function Assignees({ search, onChange }: PanelProps) {
  const { me, assignees } = useAssignees()
  const assignee = chosenAssignee(search)
  const choices: { value: string | undefined; label: string; names: readonly string[] }[] = [
    { value: undefined, label: issuesTexts.anyone, names: [] },
    { value: 'me', label: issuesTexts.me, names: ['me'] },
    { value: 'none', label: issuesTexts.unassigned, names: ['none'] },
    ...assignees
      .filter(({ id }) => id !== me?.id)
      .map(({ id, name, email }) => ({ value: id, label: name, names: [id, name, email] })),
  ]
  return (
    <CheckList
      label={LABELS.assignee}
      isSingle
      rows={choices.map(({ value, label, names }) => ({
        key: value ?? 'anyone',
        text: label,
        isChecked: assignee === undefined ? value === undefined : names.some((name) => isSame(name, assignee)),
        onChange: () => onChange(withAssignee(search, value)),
      }))}
    />
  )
}
