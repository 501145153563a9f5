import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Overview } from '../../../api/overview-queries.ts'
import { paths } from '../../../address/paths.ts'
import type { ShellSearch } from '../../../address/search.ts'
import { WordBadge } from '../../../subjects/figures/word-badge.tsx'
import { BigFigure } from '../../../ui/big-figure.tsx'
import { Card } from '../../../ui/card.tsx'
import type { ChartTone } from '../../../ui/chart/tones.ts'
import { TrendLine } from '../../../ui/chart/trend-line.tsx'
import choiceStyles from '../../../ui/choice.module.css'
import { Delta } from '../../../ui/delta.tsx'
import {
  formatChange,
  formatCount,
  formatDuration,
  formatPoints,
  formatRate,
  formatShortCount,
} from '../../../ui/format.ts'
import { Minor } from '../../../ui/text.tsx'
import { chooseCards, requestP95, type CardKind, type Limits, type Requests, type Word } from './model.ts'
import { overviewTexts as texts } from './texts.ts'
import styles from './cards.module.css'

type CardsProps = {
  overview: Overview
  requests: Requests | null
  limits: Limits | null
  platform: string
  search: ShellSearch
}

/** The four figures that the platform has, each as on its own page. */
export const Cards = ({ overview, requests, limits, platform, search }: CardsProps) => (
  <section className={styles.cards} aria-label={texts.figures}>
    {chooseCards(overview, platform, requests).map((kind) => (
      <FigureCard key={kind} {...lookOf(kind, { overview, requests, limits, search })} />
    ))}
  </section>
)

type FigureCardProps = {
  title: string
  link:
    | ReturnType<typeof paths.metrics>
    | ReturnType<typeof paths.performance>
    | ReturnType<typeof paths.issues>
    | ReturnType<typeof paths.intake>
  word: Word | null
  value: string
  full?: string
  delta: ReactNode
  about: string
  trend: readonly (number | null)[] | null
  note: string
}

const TONES: Readonly<Record<Word, ChartTone>> = { good: 'measure', watch: 'warn', poor: 'bad' }

function FigureCard({ title, link, word, value, full, delta, about, trend, note }: FigureCardProps) {
  return (
    <Card as="section" aria-label={title} className={styles.figure}>
      <header>
        <h2 className={choiceStyles.underlineLinks}>
          <Link {...link}>{title}</Link>
        </h2>
        {word === null ? null : <WordBadge word={word} />}
      </header>
      <div className={styles.line}>
        <BigFigure title={full}>{value}</BigFigure>
        {trend === null ? null : (
          <span className={styles.trend}>
            <TrendLine
              values={trend}
              max={Math.max(0, ...trend.map((one) => one ?? 0))}
              tone={word === null ? 'base' : TONES[word]}
            />
          </span>
        )}
      </div>
      <p>
        {delta} <Minor>{about}</Minor>
      </p>
      <Minor as="p">{note}</Minor>
    </Card>
  )
}

function PointDelta({ now, before }: { now: number | null; before: number | null }) {
  if (now === null || before === null) return null
  const text = formatPoints(now - before)
  return <Delta change={/[1-9]/.test(text) ? (now > before ? 'worse' : 'better') : 'same'}>{text}</Delta>
}

function CountDelta({ now, before, more }: { now: number | null; before: number | null; more: 'better' | 'worse' }) {
  if (now === null || before === null || before === 0) return null
  const less = more === 'better' ? 'worse' : 'better'
  return <Delta change={now > before ? more : now < before ? less : 'same'}>{formatChange(now, before)}</Delta>
}

/** A note, with the limit if there is one. */
const noted = (note: string, limit: Limits['p95_ms'] | undefined, format: (value: number) => string): string =>
  limit == null ? note : texts.withLimit(note, format(limit.poor))

type Look = Pick<CardsProps, 'overview' | 'requests' | 'limits' | 'search'>

function lookOf(kind: CardKind, { overview, requests, limits, search }: Look): FigureCardProps {
  const { cards, issues, intake } = overview
  const metrics = paths.metrics(search)
  switch (kind) {
    case 'crash':
    case 'anr': {
      const card = kind === 'crash' ? cards.crash_rate : cards.anr_rate
      const limit = formatRate(card.limit.value)
      return {
        title: kind === 'crash' ? texts.crashRate : texts.anrRate,
        link: metrics,
        word: card.word,
        value: formatRate(card.value),
        delta: <PointDelta now={card.value} before={card.previous} />,
        about: kind === 'crash' ? texts.ofSessions : texts.ofUsers,
        trend: card.trend,
        note: card.latest === null ? texts.limitNote(limit) : texts.newestNote(formatRate(card.latest), limit),
      }
    }
    case 'events': {
      const { value, previous, trend, critical } = cards.event_count
      return {
        title: texts.events,
        link: metrics,
        word: null,
        value: formatShortCount(value),
        full: formatCount(value),
        delta: <CountDelta now={value} before={previous} more="worse" />,
        about: texts.crashesAndErrors,
        trend,
        note: texts.criticalNote(critical),
      }
    }
    case 'users': {
      const { value, previous, active, previous_active: activeBefore, crash_free_users: free, trend } = cards.user_count
      // Events without a user say nothing about the number of users.
      const named = value === 0 && (cards.event_count.value ?? 0) > 0 ? null : value
      const shown = active ?? named
      return {
        title: active === null ? texts.usersHit : texts.users,
        link: metrics,
        word: null,
        value: formatShortCount(shown),
        full: formatCount(shown),
        delta:
          active === null ? (
            <CountDelta now={value} before={previous} more="worse" />
          ) : (
            <CountDelta now={active} before={activeBefore} more="better" />
          ),
        about: named === null ? texts.noNames : active === null ? texts.ofEvents : texts.withErrors(named),
        trend: active === null && named !== null ? trend : null,
        note: free === null ? '' : texts.crashFree(formatRate(free)),
      }
    }
    case 'issues':
      return {
        title: texts.newIssues,
        link: paths.issues(search),
        word: null,
        value: formatShortCount(issues.new),
        delta: null,
        about: texts.criticalOpen(issues.critical),
        trend: null,
        note: texts.issuesNote(issues.open, issues.regressed),
      }
    case 'failed': {
      const { failures = 0, count = 0, failure_rate: rate = null, previous } = requests ?? {}
      return {
        title: texts.failed,
        link: paths.performance(search),
        word: limits?.failure_rate?.word ?? null,
        value: formatRate(rate),
        delta: <PointDelta now={rate} before={previous?.failure_rate ?? null} />,
        about: '',
        trend: null,
        note: noted(texts.failedOf(failures, count), limits?.failure_rate, formatRate),
      }
    }
    case 'p95': {
      const [now, before] = requests === null ? [null, null] : [requestP95(requests), requestP95(requests.previous)]
      return {
        title: texts.p95,
        link: paths.performance(search),
        word: limits?.p95_ms?.word ?? null,
        value: formatDuration(now),
        delta: <CountDelta now={now} before={before} more="worse" />,
        about: '',
        trend: null,
        note:
          now === null
            ? texts.tooFew(requests?.count ?? 0)
            : noted(before === null ? '' : texts.was(formatDuration(before)), limits?.p95_ms, formatDuration),
      }
    }
    case 'received':
      return {
        title: texts.received,
        link: paths.intake(search),
        word: null,
        value: formatShortCount(intake.accepted),
        full: formatCount(intake.accepted),
        delta: null,
        about: texts.receivedAbout,
        trend: null,
        note: texts.lostNote(intake.dropped, intake.rate_limited),
      }
  }
}
