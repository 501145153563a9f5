import type { ReactNode } from 'react'
import typeStyles from '../../ui/type.module.css'
import { figureWord, type Limits } from './limits.ts'
import { figuresTexts } from './texts.ts'

/** A figure; from its limit on it has the colour of its word, which its title says. */
export function Judged({ rate, limits, children }: { rate: number | null; limits: Limits; children: ReactNode }) {
  const word = figureWord(rate, limits)
  return word === null || word === 'good' ? (
    children
  ) : (
    <b className={word === 'poor' ? typeStyles.red : typeStyles.amber} title={figuresTexts.words[word]}>
      {children}
    </b>
  )
}
