import type { FastifyRequest } from 'fastify'

/** Access tokens, signing secrets and JWTs, in case a client sends one in a path by mistake. */
const SECRET = /\b(pat_|whsec_|eyJ)[\w.~+/=-]*/g

/** The path of a request, without the query and with secrets cut off. */
export const loggedPath = ({ url }: FastifyRequest): string =>
  (url.split('?')[0] ?? '').replace(SECRET, '$1…')
