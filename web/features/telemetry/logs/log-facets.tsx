import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { logAttributesQuery, type LogAttributes, type LogFilters, type LogVolume } from '../../../api/log-queries.ts'
import { LOG_LEVELS, type LogsSearch } from '../../../address/search.ts'
import { CheckList } from '../../../forms/check-list.tsx'
import { Button } from '../../../ui/button.tsx'
import { Minor } from '../../../ui/text.tsx'
import { LevelMark } from './level-mark.tsx'
import { addPair, emptyToNone, orderAttributes } from './model.ts'
import { logsTexts as texts } from './texts.ts'
import styles from './log-facets.module.css'

type FacetsProps = {
  projectId: string
  search: LogsSearch
  filters: LogFilters
  volume: LogVolume | undefined
  onChange: (change: Partial<LogsSearch>) => void
}

/** Attributes that are shown at first. */
const SHOWN = 5

/** Levels and attributes with their counts, to filter by. */
export function Facets({ projectId, search, filters, volume, onChange }: FacetsProps) {
  const attributes = useQuery(logAttributesQuery(projectId, filters))
  const [isWhole, setWhole] = useState(false)
  const { level = [] } = search
  const all = attributes.data === undefined ? [] : orderAttributes(attributes.data)
  const shown = isWhole ? all : all.slice(0, SHOWN)
  return (
    <div className={styles.facets}>
      <CheckList
        label={texts.levels}
        rows={LOG_LEVELS.map((one) => ({
          key: one,
          text: one,
          shown: <LevelMark level={one} />,
          isChecked: level.includes(one),
          count:
            volume === undefined ? null : { value: volume.totals[one], text: texts.levelCount(volume.totals[one]) },
          onChange: () =>
            onChange({
              level: emptyToNone(level.includes(one) ? level.filter((other) => other !== one) : [...level, one]),
            }),
        }))}
      />
      {attributes.data === undefined ? null : (
        <>
          {shown.map((attribute) => (
            <Attribute key={attribute.name} attribute={attribute} search={search} onChange={onChange} />
          ))}
          {shown.length < all.length ? (
            <Button size="sm" look="ghost" icon="plus" onClick={() => setWhole(true)}>
              {texts.moreAttributes(all.length - shown.length)}
            </Button>
          ) : null}
          <Minor as="p">{texts.attributesOf(attributes.data.lines)}</Minor>
        </>
      )}
    </div>
  )
}

type AttributeProps = Pick<FacetsProps, 'search' | 'onChange'> & {
  attribute: LogAttributes['items'][number]
}

function Attribute({ attribute: { name, top, values }, search, onChange }: AttributeProps) {
  const chosen = search.with ?? []
  return (
    <CheckList
      label={name}
      rows={top.map(({ value, lines }) => {
        const pair = `${name}=${value}`
        const isChecked = chosen.includes(pair)
        return {
          key: value,
          text: value,
          shown: <bdi>{value}</bdi>,
          isChecked,
          count: { value: lines, text: texts.levelCount(lines) },
          onChange: () =>
            onChange(
              isChecked
                ? { with: emptyToNone(chosen.filter((one) => one !== pair)) }
                : addPair(search, 'with', name, value),
            ),
        }
      })}
    >
      {values > top.length ? <Minor as="p">{texts.valuesMore(values - top.length)}</Minor> : null}
    </CheckList>
  )
}
