import { Badge, type BadgeTone } from '../../ui/badge.tsx'
import type { Grade } from '../../ui/grade-dot.tsx'
import type { Word } from './limits.ts'
import { figuresTexts } from './texts.ts'

const TONES: Readonly<Record<Word, BadgeTone>> = { good: 'green', watch: 'amber', poor: 'red' }

export const GRADES: Readonly<Record<Word, Grade>> = { good: 'good', watch: 'warn', poor: 'bad' }

/** How a figure is judged, in a word. */
export const WordBadge = ({ word }: { word: Word }) => <Badge tone={TONES[word]}>{figuresTexts.words[word]}</Badge>
