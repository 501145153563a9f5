import { useNavigate } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { paths } from '../../../address/paths.ts'
import type { TracesSearch } from '../../../address/search.ts'
import type { TraceOverview } from '../../../api/trace-queries.ts'
import { CheckList } from '../../../forms/check-list.tsx'
import { Button } from '../../../ui/button.tsx'
import { classNames } from '../../../ui/class-names.ts'
import { InputBox } from '../../../ui/field.tsx'
import fitStyles from '../../../ui/fit.module.css'
import { formatCount } from '../../../ui/format.ts'
import { Icon } from '../../../ui/icon.tsx'
import { FACETS, NO_TRACE_FILTERS, listChips, toggledValue } from './traces-model.ts'
import { tracesTexts as texts } from './traces-texts.ts'
import styles from './trace-filters.module.css'

/** The filters of the list, with the number of traces of each value. */
export function TraceFilters({ search, overview }: { search: TracesSearch; overview: TraceOverview }) {
  const navigate = useNavigate()
  const go = (next: TracesSearch) => void navigate({ ...paths.traces(next), resetScroll: false })
  const { facets } = overview
  const countOf = (count: number) => ({ value: count, text: texts.ofTraces(formatCount(count)) })
  return (
    <div className={classNames(fitStyles.column, styles.filters)} role="group" aria-label={texts.filter}>
      {facets.project.length < 2 && search.project === undefined ? null : (
        <CheckList
          label={texts.facets.project}
          rows={facets.project.map(({ value, name, count }) => ({
            key: value,
            text: name,
            isChecked: value === search.project,
            count: countOf(count),
            onChange: () => go({ ...search, project: value === search.project ? undefined : value }),
          }))}
        />
      )}
      {FACETS.map((name) => {
        const chosen: readonly string[] = search[name] ?? []
        const counts = new Map(facets[name === 'result' ? 'status' : name].map(({ value, count }) => [value, count]))
        const values = [...new Set([...chosen, ...counts.keys()])]
        if (values.length === 0) return null
        return (
          <CheckList
            key={name}
            label={texts.facets[name]}
            rows={values.map((value) => ({
              key: value,
              text: value,
              ...(name === 'release' ? { shown: <ReleaseName version={value} /> } : {}),
              isChecked: chosen.includes(value),
              count: countOf(counts.get(value) ?? 0),
              onChange: () => go(toggledValue(search, name, value)),
            }))}
          />
        )
      })}
      <Fields label={texts.facets.duration}>
        {(['min', 'max'] as const).map((name) => (
          <Field
            key={`${name} ${search[name] ?? ''}`}
            label={name === 'min' ? texts.fromMs : texts.toMs}
            value={search[name] ?? ''}
            isNumber
            onSave={(value) => go({ ...search, [name]: /^\d{1,9}$/.test(value) ? value : undefined })}
          />
        ))}
      </Fields>
      <Fields label={texts.facets.tag}>
        <Field
          key={search.tag?.join() ?? ''}
          label={texts.addTag}
          hint={texts.tagHint}
          value=""
          onSave={(value) => {
            if (/^[^:]+:./.test(value) && search.tag?.includes(value) !== true) go(toggledValue(search, 'tag', value))
          }}
        />
      </Fields>
      {listChips(search).length === 0 ? null : (
        <Button size="sm" onClick={() => go({ ...search, ...NO_TRACE_FILTERS })}>
          {texts.clear}
        </Button>
      )}
    </div>
  )
}

/** The end of a release tells it apart from others of its app: what is cut is the name of the app. */
function ReleaseName({ version }: { version: string }) {
  const at = version.lastIndexOf('@') + 1
  if (at === 0) return version
  return (
    <span className={styles.release}>
      <span className={fitStyles.ellipsis}>{version.slice(0, at)}</span>
      <span>{version.slice(at)}</span>
    </span>
  )
}

const Fields = ({ label, children }: { label: string; children: ReactNode }) => (
  <fieldset className={styles.fields}>
    <legend>{label}</legend>
    {children}
  </fieldset>
)

/** A field that is saved with Enter, or when it is left. */
function Field({
  label,
  hint,
  value,
  isNumber = false,
  onSave,
}: {
  label: string
  hint?: string
  value: string
  isNumber?: boolean
  onSave: (value: string) => void
}) {
  const [text, setText] = useState(value)
  const save = () => {
    if (text.trim() !== value) onSave(text.trim())
  }
  return (
    <InputBox>
      {isNumber ? null : <Icon name="plus" />}
      <input
        aria-label={label}
        placeholder={hint ?? label}
        inputMode={isNumber ? 'numeric' : undefined}
        value={text}
        maxLength={300}
        onChange={(event) => setText(event.target.value)}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key === 'Enter') save()
        }}
      />
    </InputBox>
  )
}
