import { Link } from '@tanstack/react-router'
import { paths } from '../../../address/paths.ts'
import type { ShellSearch } from '../../../address/search.ts'
import { buttonLook } from '../../../ui/button.tsx'
import { formatDuration, formatMoment, formatRate } from '../../../ui/format.ts'
import { Note } from '../../../ui/note.tsx'
import { shortRelease } from '../../../subjects/figures/filter-model.ts'
import { splitTitle } from '../../../subjects/issue/headline.ts'
import typeStyles from '../../../ui/type.module.css'
import type { Reason, Verdict } from './model.ts'
import { overviewTexts as texts } from './texts.ts'

const LOOKS = {
  good: { tone: 'green', icon: 'check' },
  watch: { tone: 'amber', icon: 'warn' },
  poor: { tone: 'red', icon: 'warn' },
} as const

type VerdictNoteProps = { verdict: Verdict; projectId: string; search: ShellSearch }

/** How the project is, in one sentence, and where its reason is seen. */
export function VerdictNote({ verdict: { word, reason, others }, projectId, search }: VerdictNoteProps) {
  const { title, text, link } = explain(reason, projectId, search)
  const isNothing = reason.kind === 'nothing'
  return (
    <section aria-label={texts.verdict}>
      <Note
        tone={isNothing ? 'plain' : LOOKS[word].tone}
        icon={isNothing ? 'info' : LOOKS[word].icon}
        action={
          link === null ? undefined : (
            <Link {...link.to} {...buttonLook()}>
              <span>{link.label}</span>
            </Link>
          )
        }
      >
        <p className={typeStyles.strong}>{isNothing ? title : `${texts.words[word]} ${title}`}</p>
        <p>
          {text}
          {others > 0 ? ` ${texts.others(others)}` : null}
        </p>
      </Note>
    </section>
  )
}

function explain(reason: Reason, projectId: string, search: ShellSearch) {
  const { project } = search
  switch (reason.kind) {
    case 'alerts':
      return {
        title: texts.alertsFire(reason.count),
        text: reason.first.title,
        link: { to: paths.alerts({ project }), label: texts.alerts },
      }
    case 'hold':
      return {
        title: texts.held(shortRelease(reason.release.version)),
        text: reason.release.verdict_reason,
        link: { to: paths.release(reason.release.id), label: texts.openRelease },
      }
    case 'crash':
    case 'anr':
      return {
        title: (reason.kind === 'crash' ? texts.crashOver : texts.anrOver)(formatRate(reason.rate)),
        text: texts.limit(formatRate(reason.limit)),
        link: { to: paths.metrics(search), label: reason.kind === 'crash' ? texts.crashRate : texts.anrRate },
      }
    case 'monitors':
      return {
        title: texts.monitorsFail(reason.count),
        text: texts.inEnvironment(reason.first.monitor.slug, reason.first.environment.name),
        link: { to: paths.monitors({ project, state: 'attention' }), label: texts.monitors },
      }
    case 'back':
    case 'critical':
      return {
        title: (reason.kind === 'back' ? texts.cameBack : texts.newCritical)(reason.count),
        text: splitTitle(reason.first).name,
        link: { to: paths.issue(reason.first.id), label: reason.first.short_id },
      }
    case 'rose':
      return {
        title: texts.rose(formatRate(reason.after)),
        text: texts.roseFrom(formatRate(reason.before), formatMoment(reason.since)),
        link: { to: paths.metrics(search), label: texts.crashRate },
      }
    case 'slow':
      return {
        title: texts.slow(formatDuration(reason.now)),
        text: texts.slowFrom(formatDuration(reason.before)),
        link: { to: paths.performance(search), label: texts.performance },
      }
    case 'failures':
      return {
        title: texts.failures(formatRate(reason.now)),
        text: texts.failuresFrom(formatRate(reason.before)),
        link: { to: paths.performance(search), label: texts.performance },
      }
    case 'p95Limit':
    case 'failureLimit': {
      const [format, title] =
        reason.kind === 'p95Limit' ? [formatDuration, texts.p95Limit] : [formatRate, texts.failures]
      return {
        title: title(format(reason.now)),
        text: texts.projectLimit(format(reason.limit)),
        link: { to: paths.performance(search), label: texts.performance },
      }
    }
    case 'fine':
      return { title: texts.fine, text: texts.fineText, link: null }
    case 'nothing':
      return {
        title: texts.nothing,
        text: texts.nothingText,
        link: { to: paths.onboarding({ project: projectId, step: 'sdk' }), label: texts.setUp },
      }
  }
}
