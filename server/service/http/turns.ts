import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { endInOrder, isEnding, stopParsing } from './connection-end.ts'

/**
 * Requests that may wait on one connection for the answer before theirs. Browsers and SDKs send one at a time; a client
 * that sends many without reading the answers would fill the memory with them. With one more, the connection ends after
 * the answer to its first.
 */
const MAX_WAITING = 16

/** A connection whose client takes no byte of an answer for this time is closed. */
const UNREAD_TIMEOUT_MS = 60_000

/** Unread bytes of answers, of all connections; the connections with the most are closed above it. */
const MAX_UNREAD_BYTES = 128 * 1024 * 1024
const TURN_CHECK_INTERVAL_MS = 250

/** The requests of one connection whose answers have not left it. */
type Turn = { readonly waiting: (() => void)[]; response: ServerResponse; isOver: boolean }

/** Handles a request when the answers before it on its connection have left it. */
export type TakeTurn = (request: IncomingMessage, response: ServerResponse, handle: () => void) => void

/** @param onOverflow is called for each connection with more requests than may wait */
export function createTurns(onOverflow: (socket: Socket) => void): TakeTurn {
  const turns = new WeakMap<Socket, Turn>()

  const begin = (socket: Socket, turn: Turn, response: ServerResponse, handle: () => void): void => {
    turn.response = response
    response.once('close', () => {
      if (turn.isOver) return endInOrder(socket)
      const next = turn.waiting.shift()
      if (next === undefined) turns.delete(socket)
      else if (!socket.destroyed && !isEnding(socket)) next()
    })
    handle()
  }

  const overflow = (socket: Socket, turn: Turn): void => {
    stopParsing(socket)
    if (turn.isOver) return
    turn.isOver = true
    turn.waiting.length = 0
    turn.response.shouldKeepAlive = false
    onOverflow(socket)
  }

  return ({ socket }, response, handle) => {
    const turn = turns.get(socket)
    if (turn === undefined) {
      const first = { waiting: [], response, isOver: false }
      turns.set(socket, first)
      begin(socket, first, response, handle)
    } else if (turn.isOver || turn.waiting.length >= MAX_WAITING) overflow(socket, turn)
    else turn.waiting.push(() => begin(socket, turn, response, handle))
  }
}

/** Closes connections whose clients do not read their answers. @returns a function that ends the checks */
export function closeUnread(server: Server, maxBytes = MAX_UNREAD_BYTES): () => void {
  // Node counts every byte that leaves the connection or arrives as activity.
  server.setTimeout(UNREAD_TIMEOUT_MS, (socket: Socket) => socket.destroy())
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const check = setInterval(() => {
    let unread = 0
    for (const socket of sockets) unread += socket.writableLength
    if (unread <= maxBytes) return
    for (const socket of [...sockets].sort((a, b) => b.writableLength - a.writableLength)) {
      if (unread <= maxBytes) return
      unread -= socket.writableLength
      socket.destroy()
    }
  }, TURN_CHECK_INTERVAL_MS)
  check.unref()
  return () => clearInterval(check)
}
