import { Fragment } from 'react'

/** After the `@` and `/` of a name, and before its `+`: `com.acme.shop@`, `4.12.0`, `+41200`. */
const PLACES = /(?<=[@/])(?!$)|(?=\+)/u

/** A long name without spaces that breaks between its parts. Copied text has no additional characters. */
export const Breakable = ({ text }: { text: string }) =>
  text.split(PLACES).map((part, index) => (
    <Fragment key={index}>
      {index === 0 ? null : <wbr />}
      {part}
    </Fragment>
  ))
