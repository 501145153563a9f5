import type { ReactNode } from 'react'
import type { Word } from '../../../subjects/figures/limits.ts'
import { GRADES } from '../../../subjects/figures/word-badge.tsx'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { Card } from '../../../ui/card.tsx'
import { Delta } from '../../../ui/delta.tsx'
import { formatChange } from '../../../ui/format.ts'
import { GradeDot } from '../../../ui/grade-dot.tsx'
import { changeTone, relativeGrowth } from './model.ts'
import styles from './tiles.module.css'

export type Tile = {
  label: string
  value: string
  word: Word | null
  /** The word with its limit, or why there is no value. */
  note: string
  /** The change against the range before, where less is better. */
  now?: number | null
  before?: number | null
  /** The time that the change is compared with, and the value before. */
  against?: string
}

/** Headline figures with their words. */
export function Tiles({ tiles, label }: { tiles: readonly Tile[]; label: string }) {
  return (
    <Card as="div" role="group" aria-label={label}>
      <dl className={styles.tiles}>
        {tiles.map((tile) => (
          <div key={tile.label}>
            <dt>{tile.label}</dt>
            <dd>
              <BigFigure>{tile.value}</BigFigure> <Growth tile={tile} />
            </dd>
            <dd className={styles.note}>
              {tile.word === null ? null : <GradeDot grade={GRADES[tile.word]} />}
              {tile.note}
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}

function Growth({ tile: { now = null, before = null, against } }: { tile: Tile }): ReactNode {
  const growth = relativeGrowth(now, before)
  return growth === null || changeTone(growth) === 'same' ? null : (
    <Delta change={changeTone(growth)} title={against}>
      {formatChange(now, before)}
    </Delta>
  )
}
