import { Outlet } from '@tanstack/react-router'
import { usePageTitle } from './page-title.ts'
import '../ui/settings.css'
import type { ReactElement, ReactNode } from 'react'

type SettingsFrameProps = {
  /** Spoken name of the list of topics. */
  name: string
  heading: string
  /** Links to the topics. */
  children: readonly ReactElement[]
}

/** Settings: one topic per page, the topics on the left, on small screens in a row above. */
export function SettingsFrame({ name, heading, children }: SettingsFrameProps) {
  return (
    <main id="main" tabIndex={-1}>
      <div className="withsub">
        <nav className="subnav" aria-label={name}>
          <h2>{heading}</h2>
          <ul>
            {children.map((link) => (
              <li key={link.key}>{link}</li>
            ))}
          </ul>
        </nav>
        <div className="sub-main set">
          <Outlet />
        </div>
      </div>
    </main>
  )
}

/** The head of a settings page. */
export function SettingsHead({
  title,
  of,
  lead,
  actions,
}: {
  title: string
  of: string | null
  lead: string
  actions?: ReactNode
}) {
  usePageTitle(of === null ? title : `${title}, ${of}`)
  return (
    <div className="head">
      <div>
        <h1>{title}</h1>
        <p>{lead}</p>
      </div>
      {actions === undefined ? null : <div className="head-a">{actions}</div>}
    </div>
  )
}
