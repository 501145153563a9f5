import { useNavigate } from '@tanstack/react-router'
import type { KeyboardEvent, ReactNode } from 'react'
import { paths } from '../../address/paths.ts'
import type { NewRuleSearch } from '../../address/search.ts'
import { ChartCard } from '../../ui/chart/chart-card.tsx'
import { IconButton } from '../../ui/button.tsx'
import { copyAndSay } from '../../ui/copy-button.tsx'
import type { IconName } from '../../ui/icon.tsx'
import { Menu } from '../../ui/menu.tsx'
import { useCan } from '../../app/can.ts'
import { useScope } from '../../app/use-scope.ts'
import { assistantTexts } from '../assistant/texts.ts'
import { figuresTexts } from './texts.ts'

type ChartPanelProps = {
  title: string
  unit: string
  legend?: ReactNode
  note?: ReactNode
  noteIcon?: IconName
  table?: ReactNode
  /** Shown over the whole width; Enter on the chart switches. Absent for charts of one size. */
  large?: boolean
  onLarge?: (large: boolean) => void
  /** The draft of an alert rule on this chart; absent where no trigger measures the same. */
  alertOn?: Omit<NewRuleSearch, 'project' | 'from'>
  children: ReactNode
}

/** A chart of app health with its menu. */
export function ChartPanel({ large = false, onLarge, alertOn, ...card }: ChartPanelProps) {
  const navigate = useNavigate()
  const { projectId, range } = useScope()
  const may = useCan('alerts.write')
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target instanceof Element ? event.target : null
    // A position that is read takes Enter itself.
    if (event.key !== 'Enter' || event.defaultPrevented || target?.getAttribute('role') !== 'slider') return
    event.preventDefault()
    onLarge?.(!large)
  }
  return (
    <ChartCard
      {...card}
      large={large}
      {...(onLarge === undefined ? {} : { onKeyDown })}
      tools={
        <Menu
          label={figuresTexts.chartMenu(card.title)}
          align="end"
          trigger={<IconButton look="ghost" size="sm" icon="more" label={figuresTexts.chartMenu(card.title)} />}
          entries={[
            ...(onLarge === undefined
              ? []
              : [
                  {
                    label: large ? figuresTexts.shrink : figuresTexts.expand,
                    onSelect: () => onLarge(!large),
                  },
                ]),
            ...(alertOn === undefined
              ? []
              : [
                  {
                    label: figuresTexts.alertOnThis,
                    icon: 'bell' as const,
                    why: may.why,
                    onSelect: () => void navigate(paths.newAlertRule({ project: projectId ?? undefined, ...alertOn })),
                  },
                ]),
            {
              label: assistantTexts.askAboutThis,
              icon: 'ask' as const,
              onSelect: () =>
                void navigate(paths.ask({ project: projectId ?? undefined, q: figuresTexts.askOf(card.title, range) })),
            },
            {
              label: figuresTexts.copyLink,
              icon: 'link' as const,
              onSelect: () => void copyAndSay(location.href, figuresTexts.linkCopied),
            },
          ]}
        />
      }
    />
  )
}
