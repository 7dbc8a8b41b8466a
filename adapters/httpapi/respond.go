package httpapi

import (
	"github.com/gofiber/fiber/v2"

	"sundry/ports"
)

// Respond renders what a use case returned, in one line: return Respond(c, newView)(service.Get(ctx, id)). The use
// case's error is returned as it is.
func Respond[S, V any](c *fiber.Ctx, view func(S) V) func(S, error) error {
	return RespondStatus(c, fiber.StatusOK, view)
}

// RespondStatus is Respond with another status than 200.
func RespondStatus[S, V any](c *fiber.Ctx, status int, view func(S) V) func(S, error) error {
	return func(state S, err error) error {
		if err != nil {
			return err
		}
		return c.Status(status).JSON(view(state))
	}
}

// RespondList renders a page of a list, with the view of each of its items.
func RespondList[T, V any](c *fiber.Ctx, view func(T) V) func(ports.List[T], error) error {
	return Respond(c, func(l ports.List[T]) ListView[V] { return NewListView(l, view) })
}

// RespondAll is RespondList for a list that always fits one page.
func RespondAll[T, V any](c *fiber.Ctx, view func(T) V) func([]T, error) error {
	return Respond(c, func(items []T) ListView[V] { return NewListView(ports.List[T]{Items: items}, view) })
}
