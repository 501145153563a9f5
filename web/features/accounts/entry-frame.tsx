import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { paths } from '../../address/paths.ts'
import { Mark } from '../../ui/icon.tsx'
import { entry } from './texts.ts'
import { shared } from '../../common/texts.ts'
import { Strata } from './logo.tsx'
import './accounts.css'

/** The frame of pages before the session: the form on the left, the drawing on the right. */
export function EntryFrame({ children }: { children: ReactNode }) {
  return (
    <main className="login" id="main">
      <section className="login-f">
        <Link className="brand" {...paths.login()}>
          <Mark />
          <b>{shared.product}</b>
        </Link>
        <div className="login-b">{children}</div>
      </section>
      <aside className="login-art" aria-hidden="true">
        <Strata />
        <p className="login-q">
          <b>{entry.motto}</b>
          <br />
          {entry.mottoMore}
        </p>
      </aside>
    </main>
  )
}
